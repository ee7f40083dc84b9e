package redact

import (
	"bytes"

	"conclave/internal/jsontext"
)

// JSON is Bytes for one JSON value: what comes out is JSON, too. The person's
// own patterns are held against strings and numbers, one by one, and not
// against names and structure: no pattern can make a line unreadable.
func (r *Redactor) JSON(dst, src []byte) (out []byte, counts Counts) {
	var few [8]span
	spans := merge(r.find(src, few[:0]))
	if len(spans) == 0 && len(r.patterns) == 0 {
		return append(dst, src...), nil
	}
	if !jsontext.Valid(src) {
		return r.Bytes(dst, src)
	}
	start := len(dst)
	out, counts = replace(dst, src, spans)
	if counts != nil && !jsontext.Valid(out[start:]) {
		out, counts = scalars(out[:start], src, true, func(text []byte) []span { return merge(r.find(text, nil)) })
	}
	if len(r.patterns) == 0 {
		return out, counts
	}
	done := bytes.Clone(out[start:])
	out, more := scalars(out[:start], done, false, func(text []byte) []span { return merge(r.own(text, nil)) })
	if counts == nil {
		return out, more
	}
	counts.Add(more)
	return out, counts
}

// scalars copies a JSON value and replaces what find finds in its strings and
// numbers; in its names only if names is set.
func scalars(dst, src []byte, names bool, find func([]byte) []span) ([]byte, Counts) {
	counts := Counts{}
	for at := 0; at < len(src); {
		c := src[at]
		end := at + 1
		switch {
		case c == '"':
			end = stringEnd(src, at)
			rest := bytes.TrimLeft(src[end:], " \t\r\n")
			if names || len(rest) == 0 || rest[0] != ':' {
				var found Counts
				dst, found = inString(dst, src[at+1:end-1], find)
				counts.Add(found)
				at = end
				continue
			}
		case c == '-' || isDigit(c):
			for end < len(src) && (isDigit(src[end]) || src[end] == '.' || src[end] == '-' || src[end] == '+' || src[end]|0x20 == 'e') {
				end++
			}
			if spans := find(src[at:end]); len(spans) > 0 {
				counts[spans[0].kind]++
				dst = append(dst, '0')
				at = end
				continue
			}
		}
		dst = append(dst, src[at:end]...)
		at = end
	}
	if len(counts) == 0 {
		counts = nil
	}
	return dst, counts
}

// stringEnd is the place behind the string that begins at i.
func stringEnd(src []byte, i int) int {
	for i++; src[i] != '"'; i++ {
		if src[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func inString(dst, inside []byte, find func([]byte) []span) ([]byte, Counts) {
	start := len(dst)
	dst = append(dst, '"')
	dst, found := replace(dst, inside, find(inside))
	dst = append(dst, '"')
	if found != nil && !jsontext.Valid(dst[start:]) {
		dst = append(dst[:start], `"[redacted]"`...)
	}
	return dst, found
}
