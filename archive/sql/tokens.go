package sql

import (
	"regexp"
	"strings"
)

// A little of SQL's spelling, enough to tell names from texts.
type tokKind int

const (
	tokOther tokKind = iota
	tokSpace         // and comments
	tokText          // 'text'
	tokName
)

type token struct {
	kind tokKind
	text string
}

var tokenPattern = regexp.MustCompile("(?s)^(?:" +
	`(\s+|--[^\n]*\n?|/\*.*?(?:\*/|$))` + // space
	`|('(?:[^']|'')*'?)` + // text
	"|(\"(?:[^\"]|\"\")*\"?|`(?:[^`]|``)*`?|\\[[^\\]]*\\]?|[A-Za-z_\\x80-\\x{10FFFF}][A-Za-z0-9_$\\x80-\\x{10FFFF}]*)" + // name
	`|(->>|->|.))`)

func tokens(query string) []token {
	var list []token
	for query != "" {
		m := tokenPattern.FindStringSubmatchIndex(query)
		if m == nil { // bytes that are no text
			return append(list, token{tokOther, query})
		}
		kind := tokOther
		switch {
		case m[2] >= 0:
			kind = tokSpace
		case m[4] >= 0:
			kind = tokText
		case m[6] >= 0:
			kind = tokName
		}
		list = append(list, token{kind, query[:m[1]]})
		query = query[m[1]:]
	}
	return list
}

// name is the name without its quotes.
func (t token) name() string {
	if len(t.text) > 1 && strings.IndexByte("\"`['", t.text[0]) >= 0 {
		return t.text[1 : len(t.text)-1]
	}
	return t.text
}

// light are the members of a context that are columns as well.
var light = map[string]string{"prompt_name": "prompt_name", "adapter": "adapter", "entry_type": "entry_type",
	"sequence_number": "sequence_number", "source": "transcript_source", "session_id": "session_id"}

// spell writes context->>'entry_type' as the column that it is. Both spellings
// give the same; the column need not be taken out of a line of JSON that has
// to be taken out of a block.
func spell(query string) string {
	list := tokens(query)
	var out strings.Builder
	for i := 0; i < len(list); i++ {
		if column, used := lightMember(list[i:]); used > 0 {
			out.WriteString(column)
			i += used - 1
			continue
		}
		out.WriteString(list[i].text)
	}
	return out.String()
}

// lightMember recognises context ->> 'name' at the start of list.
func lightMember(list []token) (column string, used int) {
	if list[0].kind != tokName || !strings.EqualFold(list[0].name(), "context") {
		return "", 0
	}
	step := func(i int) int {
		for i++; i < len(list) && list[i].kind == tokSpace; i++ {
		}
		return i
	}
	op := step(0)
	if op >= len(list) || list[op].text != "->>" {
		return "", 0
	}
	text := step(op)
	if text >= len(list) || list[text].kind != tokText {
		return "", 0
	}
	column, ok := light[strings.TrimPrefix(strings.Trim(list[text].text, "'"), "$.")]
	if !ok {
		return "", 0
	}
	return column, text + 1
}
