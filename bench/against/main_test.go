package main

import (
	"slices"
	"testing"
	"time"
)

// TestBenchmarks: the seven that a change is held against, each with work to do.
func TestBenchmarks(t *testing.T) {
	var names []string
	for _, b := range benchmarks {
		names = append(names, b.name)
		if len(b.timed) == 0 {
			t.Errorf("%s measures nothing", b.name)
		}
	}
	if want := []string{"mapping", "import", "archive", "search", "query", "usage", "cycle"}; !slices.Equal(names, want) {
		t.Errorf("the benchmarks are %v, want %v", names, want)
	}
}

func TestMedian(t *testing.T) {
	list := []spent{{9, 1}, {1, 2}, {5, 3}, {7, 9}}
	if got := median(list[:3]); got != (spent{5, 2}) {
		t.Errorf("of three: %v", got)
	}
	if got := median(list); got != (spent{6, 2}) {
		t.Errorf("of four: %v", got)
	}
}

// TestReport: five per cent more is slower, less is not.
func TestReport(t *testing.T) {
	for took, want := range map[time.Duration]bool{900: false, 1049: false, 1060: true} {
		sides := [2]*side{{took: map[string][]spent{"a": {{1000, 1}}}}, {took: map[string][]spent{"a": {{took, 1}}}}}
		if got := report([]benchmark{{name: "a"}}, sides); got != want {
			t.Errorf("%d after 1000: slower is %v", took, got)
		}
	}
}

func TestWords(t *testing.T) {
	got := words("query --archive=F SELECT a, b FROM c")
	if !slices.Equal(got, []string{"query", "--archive=F", "SELECT a, b FROM c"}) {
		t.Errorf("%q", got)
	}
}
