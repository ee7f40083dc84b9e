// Command against compares two builds of the program: it lets both do the same
// work, in turns, and says of each benchmark how long they took in the median and
// which is slower. It exits with 1 when the new one is more than five per cent
// slower in any, and with 3 when one of the programs fails.
//
//	against [-runs N] [-megabytes N] [-only NAME,…] OLD NEW
//
// It drives whole programs and no functions, so that the two may be as different
// inside as they like. What they work on is made from a seed in a temporary
// directory. make bench-against builds both programs and calls it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// bearable is how much slower the new program may be.
const bearable = 1.05

func main() {
	runs := flag.Int("runs", 9, "measured runs of each program and benchmark")
	megabytes := flag.Int("megabytes", 24, "session files to work on")
	only := flag.String("only", "", "names of benchmarks, with commas; empty means all")
	flag.Parse()
	if flag.NArg() != 2 || *runs < 1 {
		fmt.Fprintln(os.Stderr, "usage: against [-runs N] [-megabytes N] [-only NAME,…] OLD NEW")
		os.Exit(2)
	}
	slower, err := run(flag.Arg(0), flag.Arg(1), *runs, int64(*megabytes)<<20, *only)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "against:", err)
		os.Exit(3)
	case slower:
		os.Exit(1)
	}
}

func run(old, new string, runs int, size int64, only string) (slower bool, err error) {
	dir, err := os.MkdirTemp("", "bench-against-*")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	chosen := benchmarks
	if only != "" {
		chosen = slices.DeleteFunc(slices.Clone(benchmarks), func(b benchmark) bool {
			return !slices.Contains(strings.Split(only, ","), b.name)
		})
	}
	if len(chosen) == 0 {
		return false, fmt.Errorf("there is no benchmark %q", only)
	}
	fmt.Fprintf(os.Stderr, "writing sessions (%d MB)\n", size>>20)
	if err := makeData(dir, size); err != nil {
		return false, err
	}
	sides := [2]*side{{name: "old"}, {name: "new"}}
	for i, program := range []string{old, new} {
		if sides[i].program, err = filepath.Abs(program); err != nil {
			return false, err
		}
		sides[i].data, sides[i].own = dir, filepath.Join(dir, sides[i].name)
	}
	if err := measure(chosen, sides, runs); err != nil {
		return false, err
	}
	return report(chosen, sides), nil
}

// measure runs every benchmark on both sides in turns: once for nothing, which
// fills the caches of the system, and then as often as was asked for.
func measure(chosen []benchmark, sides [2]*side, runs int) error {
	for _, s := range sides {
		if err := s.setUp(chosen); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	began := time.Now()
	for round := range runs + 1 {
		for _, b := range chosen {
			for turn := range sides {
				s := sides[(turn+round)%2] // who is first changes: the second finds warmer caches
				took, err := s.time(b)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", s.name, b.name, err)
				}
				if round > 0 {
					s.took[b.name] = append(s.took[b.name], took)
				}
			}
		}
		left := time.Since(began) / time.Duration(round+1) * time.Duration(runs-round)
		fmt.Fprintf(os.Stderr, "round %d of %d, %v left\n", round, runs, left.Round(time.Second))
	}
	return nil
}

// report prints the medians and says whether the new program is too slow. Time
// decides; that of the processors, which a busy machine does not change, tells
// work from waiting.
func report(chosen []benchmark, sides [2]*side) (slower bool) {
	fmt.Printf("%-8s  %9s  %9s  %6s  %10s\n", "", "old", "new", "ratio", "processors")
	for _, b := range chosen {
		was, is := median(sides[0].took[b.name]), median(sides[1].took[b.name])
		ratio, verdict := float64(is.wall)/float64(was.wall), ""
		if ratio > bearable {
			slower, verdict = true, "  slower"
		}
		fmt.Printf("%-8s  %7.1fms  %7.1fms  %6.3f  %10.3f%s\n", b.name, milliseconds(was.wall), milliseconds(is.wall),
			ratio, float64(is.cpu)/float64(was.cpu), verdict)
	}
	return slower
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// spent is what a run took: time, and time of the processors.
type spent struct{ wall, cpu time.Duration }

func median(list []spent) spent {
	middle := func(of func(spent) time.Duration) time.Duration {
		var times []time.Duration
		for _, s := range list {
			times = append(times, of(s))
		}
		slices.Sort(times)
		n := len(times)
		return (times[(n-1)/2] + times[n/2]) / 2
	}
	return spent{
		middle(func(s spent) time.Duration { return s.wall }),
		middle(func(s spent) time.Duration { return s.cpu }),
	}
}
