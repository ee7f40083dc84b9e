// Package sample says how much of a large matrix a test goes through: a few
// cases before every commit (go test -short, which is make check), some in
// make test, all of them in make full (CONCLAVE_SAMPLE=all).
//
// What is drawn depends on the commit and on the test's name. So one commit is
// tried alike on every machine, another commit tries other cases, and in the
// course of time all are tried. CONCLAVE_SAMPLE_SEED=N repeats a draw; each is
// logged with its test. It is for tests: the product does not import it.
package sample

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"conclave/internal/git"
)

// All says whether everything is to be tried.
func All() bool { return os.Getenv("CONCLAVE_SAMPLE") == "all" }

// Count is one of three numbers: for make check, make test and make full.
func Count(few, some, all int) int {
	switch {
	case All():
		return all
	case testing.Short():
		return few
	}
	return some
}

// Pick returns which of n cases to try, in order: few of them, some, or all,
// evenly spread.
func Pick(t testing.TB, n, few, some int) []int {
	t.Helper()
	want := min(n, Count(few, some, n))
	if want == 0 {
		return []int{}
	}
	if want < n {
		t.Logf("%d of %d cases", want, n)
	}
	return spread(Rand(t), n, want)
}

// spread draws so many of n, in order, evenly spread.
func spread(r *rand.Rand, n, want int) []int {
	list := make([]int, 0, want)
	from := r.Float64()
	for i := range want {
		list = append(list, int((float64(i)+from)*float64(n)/float64(want)))
	}
	return list
}

// Rand is the source of a test's draws.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	t.Logf("CONCLAVE_SAMPLE_SEED=%d", Seed())
	return source(t.Name())
}

func source(name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(Seed(), h.Sum64()))
}

// Seed is what all draws depend on: CONCLAVE_SAMPLE_SEED, or the commit. A test that
// runs itself elsewhere hands it on.
func Seed() uint64 {
	if s, err := strconv.ParseUint(os.Getenv("CONCLAVE_SAMPLE_SEED"), 10, 64); err == nil {
		return s
	}
	return commit()
}

// Tests lets the short form of a package run few of its tests, others at
// another commit. It is called in TestMain, before the tests run, by packages
// whose tests start processes: many seconds, and each second shows something.
// Whoever says which tests to run, runs those.
func Tests(few int) {
	flag.Parse()
	named := func(name string) bool { return flag.Lookup("test."+name).Value.String() != "" }
	if !testing.Short() || All() || named("run") || named("list") || named("bench") || named("fuzz") {
		return
	}
	out, err := exec.Command(os.Args[0], "-test.list=^Test").Output()
	all := strings.Fields(string(out))
	if err != nil || len(all) <= few {
		return
	}
	var names []string
	for _, i := range spread(source("tests"), len(all), few) {
		names = append(names, all[i])
	}
	fmt.Printf("CONCLAVE_SAMPLE_SEED=%d: %d of %d tests\n", Seed(), few, len(all))
	if err := flag.Set("test.run", "^("+strings.Join(names, "|")+")$"); err != nil {
		panic(err)
	}
}

// Checks lets a property be tried so many times, in place of rapid's hundred, where not
// everything is tried and nobody says how often (-rapid.checks). It is called in
// TestMain, before the tests run, by packages with a property whose case takes long.
func Checks(few, some int) {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "rapid.checks" })
	if said || All() {
		return
	}
	if err := flag.Set("rapid.checks", strconv.Itoa(Count(few, some, 100))); err != nil {
		panic(err)
	}
}

// commit is a number for the commit of the checkout; 1 where there is none.
var commit = sync.OnceValue(func() uint64 {
	repository, err := git.Open(context.Background(), ".")
	if err != nil {
		return 1
	}
	defer repository.Close()
	h := fnv.New64a()
	h.Write([]byte(repository.Commit()))
	return h.Sum64()
})

// Long marks a test that make check leaves to make test: it starts real
// programs or takes many seconds, and a part of it would show nothing.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left to make test")
	}
}
