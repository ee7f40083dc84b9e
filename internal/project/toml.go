package project

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlValue is a value of a TOML file, as far as manifests need it.
type tomlValue struct {
	line  int
	text  string // of a string, or the raw word of anything else
	list  []tomlValue
	table map[string]tomlValue
}

// tomlPair is a key with its value, and the table it stands in.
type tomlPair struct {
	table string // "project.optional-dependencies"; of an array of tables too
	nth   int    // of an array of tables
	head  int    // the line in which the table is named
	key   string
	tomlValue
}

// tomlReader knows the lines of a text that a parser reads.
type tomlReader struct {
	unstable.Parser
	all  []byte
	from int   // where the parser began
	ends []int // of lines
}

// readTOML lists the pairs of a text in order. Dotted keys are joined to their
// table. What is no TOML is left out, to the end of the line.
func readTOML(text string) []tomlPair {
	r := &tomlReader{all: slices.Clip([]byte(text))}
	for i, c := range r.all {
		if c == '\n' {
			r.ends = append(r.ends, i)
		}
	}
	r.Reset(r.all)
	var out []tomlPair
	table, headLine, nth := "", 0, map[string]int{}
	for {
		if !r.NextExpression() {
			if !r.again() {
				return out
			}
			continue
		}
		e := r.Expression()
		names, line := r.names(e.Key())
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			if table, headLine = strings.Join(names, "."), line; e.Kind == unstable.ArrayTable {
				nth[table]++
			}
		case unstable.KeyValue:
			v := r.value(e.Value(), line)
			v.line = line
			p := tomlPair{table, nth[table], headLine, names[len(names)-1], v}
			if up := names[:len(names)-1]; len(up) > 0 {
				p.table, p.head = strings.TrimPrefix(table+"."+strings.Join(up, "."), "."), line
			}
			out = append(out, p)
		}
	}
}

// again goes on in the line after a fault; at the end there is nothing to go on
// with.
func (r *tomlReader) again() bool {
	var fault *unstable.ParserError
	if !errors.As(r.Error(), &fault) {
		return false
	}
	at := max(cap(r.all)-cap(fault.Highlight), r.from)
	if at >= len(r.all) {
		return false
	}
	end := bytes.IndexByte(r.all[at:], '\n')
	if end < 0 {
		return false
	}
	r.from = at + end + 1
	r.Reset(r.all[r.from:])
	return true
}

// names are the parts of a key, and the line it stands in.
func (r *tomlReader) names(it unstable.Iterator) (parts []string, line int) {
	for it.Next() {
		n := it.Node()
		if parts = append(parts, string(n.Data)); line == 0 {
			line = r.lineOf(n)
		}
	}
	return parts, line
}

func (r *tomlReader) lineOf(n *unstable.Node) int {
	i, _ := slices.BinarySearch(r.ends, r.from+int(n.Raw.Offset))
	return i + 1
}

// value reads a node. An array has no place of its own: it is where its key is.
func (r *tomlReader) value(n *unstable.Node, line int) tomlValue {
	v := tomlValue{line: line}
	switch n.Kind {
	case unstable.Array:
		v.list = []tomlValue{}
		for it := n.Children(); it.Next(); {
			v.list = append(v.list, r.value(it.Node(), line))
		}
	case unstable.InlineTable:
		v.line, v.table = r.lineOf(n), map[string]tomlValue{}
		for it := n.Children(); it.Next(); {
			names, at := r.names(it.Node().Key())
			v.table[strings.Join(names, ".")] = r.value(it.Node().Value(), at)
		}
	default:
		v.line, v.text = r.lineOf(n), string(n.Data)
	}
	return v
}
