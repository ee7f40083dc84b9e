//go:build ignore

// Genfold writes fold.txt from the Unicode character database:
//
//	go run genfold.go path/to/UnicodeData.txt
//
// It takes every character whose full compatibility decomposition, without its
// combining marks, is made of ASCII letters and digits alone.
package main

import (
	"bufio"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

func main() {
	f, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	decomp := map[rune][]rune{}
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		field := strings.Split(sc.Text(), ";")
		if len(field) < 6 || field[5] == "" {
			continue
		}
		var to []rune
		for _, h := range strings.Fields(field[5]) {
			if r, err := strconv.ParseInt(h, 16, 32); err == nil {
				to = append(to, rune(r))
			}
		}
		r, _ := strconv.ParseInt(field[0], 16, 32)
		decomp[rune(r)] = to
	}
	if err := sc.Err(); err != nil || len(decomp) == 0 {
		log.Fatal("no decompositions read: ", err)
	}
	groups := map[string][]rune{}
	for r := range decomp {
		if s := fold(decomp, r); s != "" && r > 127 {
			groups[s] = append(groups[s], r)
		}
	}
	write(groups)
}

func fold(decomp map[rune][]rune, r rune) string {
	to, ok := decomp[r]
	if !ok {
		if r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return strings.ToLower(string(r))
		}
		return ""
	}
	out := ""
	for _, d := range to {
		if unicode.Is(unicode.M, d) || d == 0x2BC {
			continue
		}
		s := fold(decomp, d)
		if s == "" {
			return ""
		}
		out += s
	}
	return out
}

func write(groups map[string][]rune) {
	var out strings.Builder
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		slices.Sort(groups[key])
		fmt.Fprintf(&out, "%s %s\n", key, string(groups[key]))
	}
	if err := os.WriteFile("fold.txt", []byte(out.String()), 0o644); err != nil {
		log.Fatal(err)
	}
}
