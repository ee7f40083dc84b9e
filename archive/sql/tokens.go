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

// light are the members of a context that are columns as well, each with what
// the column is where the context may have no such member.
var light = map[string]struct{ column, absent string }{
	"prompt_name": {"prompt_name", "''"}, "adapter": {"adapter", "''"}, "entry_type": {"entry_type", "''"},
	"sequence_number": {"sequence_number", "0"}, "source": {"transcript_source", "''"}, "session_id": {"session_id", "''"},
}

// spell writes context->>'entry_type' as the column that it is, which need not
// be taken out of a line of JSON that has to be taken out of a block. It does so
// only where both are sure to give the same: in a query of one SELECT over one
// table that has both, and for rows whose column says something.
func spell(query string) string {
	list := tokens(query)
	if !plainSelect(list) {
		return query
	}
	var out strings.Builder
	dotted := false
	for i := 0; i < len(list); i++ {
		if text, used := lightMember(list[i:]); used > 0 && !dotted {
			out.WriteString(text)
			i += used - 1
			continue
		}
		dotted = list[i].text == "." || dotted && list[i].kind == tokSpace
		out.WriteString(list[i].text)
	}
	return out.String()
}

// afterTable are the words that can follow the one table of a query.
var afterTable = map[string]bool{"WHERE": true, "GROUP": true, "ORDER": true, "LIMIT": true, "HAVING": true, "WINDOW": true}

// plainSelect says whether a query is one SELECT from the transcript or the logs
// and from nothing else.
func plainSelect(list []token) bool {
	var words []string
	for _, t := range list {
		if t.kind != tokSpace {
			words = append(words, strings.ToUpper(t.text))
		}
	}
	selects, from := 0, -1
	for i, w := range words {
		switch w {
		case "SELECT", "WITH", "VALUES":
			selects++
		case "FROM":
			if i > 1 && words[i-1] == "DISTINCT" { // IS DISTINCT FROM
				continue
			}
			if from >= 0 {
				return false
			}
			from = i
		}
	}
	if selects != 1 || from < 0 || from+1 >= len(words) || words[from+1] != "TRANSCRIPT" && words[from+1] != "LOGS" {
		return false
	}
	rest := words[from+2:]
	return len(rest) == 0 || rest[0] == ";" || afterTable[rest[0]]
}

// lightMember recognises context ->> 'name' at the start of list.
func lightMember(list []token) (text string, used int) {
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
	name := step(op)
	if name >= len(list) || list[name].kind != tokText {
		return "", 0
	}
	member, ok := light[strings.TrimPrefix(strings.Trim(list[name].text, "'"), "$.")]
	if !ok {
		return "", 0
	}
	return "CASE WHEN " + member.column + " <> " + member.absent + " THEN " + member.column +
		" ELSE context->>" + list[name].text + " END", name + 1
}
