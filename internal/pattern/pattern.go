// Package pattern is regular expressions that are compiled when they are first
// asked: a program has hundreds of them, a command needs a few, and each would
// cost its share of every start.
//
// One that is no regular expression is found by Check, which the tests of a
// package call that has some, and not by whoever happens to need it.
package pattern

import (
	"errors"
	"fmt"
	"regexp"
	"sync"
)

// Pattern is a regular expression in the syntax of package regexp.
type Pattern struct {
	text    string
	compile func() *regexp.Regexp
}

var (
	mu  sync.Mutex
	all []*Pattern
)

// New makes a pattern. It is for variables of a package.
func New(text string) *Pattern {
	p := &Pattern{text, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
	mu.Lock()
	defer mu.Unlock()
	all = append(all, p)
	return p
}

// Check says which patterns of the program are no regular expressions.
func Check() error {
	mu.Lock()
	defer mu.Unlock()
	var wrong []error
	for _, p := range all {
		if _, err := regexp.Compile(p.text); err != nil {
			wrong = append(wrong, fmt.Errorf("%q: %w", p.text, err))
		}
	}
	return errors.Join(wrong...)
}

// The rest are the methods of regexp.Regexp that the program uses.

func (p *Pattern) MatchString(s string) bool            { return p.compile().MatchString(s) }
func (p *Pattern) Match(b []byte) bool                  { return p.compile().Match(b) }
func (p *Pattern) FindString(s string) string           { return p.compile().FindString(s) }
func (p *Pattern) FindStringIndex(s string) []int       { return p.compile().FindStringIndex(s) }
func (p *Pattern) FindStringSubmatch(s string) []string { return p.compile().FindStringSubmatch(s) }
func (p *Pattern) FindStringSubmatchIndex(s string) []int {
	return p.compile().FindStringSubmatchIndex(s)
}
func (p *Pattern) FindAllString(s string, n int) []string { return p.compile().FindAllString(s, n) }
func (p *Pattern) FindAllStringIndex(s string, n int) [][]int {
	return p.compile().FindAllStringIndex(s, n)
}
func (p *Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.compile().FindAllStringSubmatch(s, n)
}
func (p *Pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return p.compile().FindAllStringSubmatchIndex(s, n)
}
func (p *Pattern) ReplaceAllString(s, with string) string {
	return p.compile().ReplaceAllString(s, with)
}
func (p *Pattern) ReplaceAllStringFunc(s string, with func(string) string) string {
	return p.compile().ReplaceAllStringFunc(s, with)
}
func (p *Pattern) Split(s string, n int) []string { return p.compile().Split(s, n) }
