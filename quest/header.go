package quest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"conclave/frontmatter"
)

// headerFault turns a header that could not be read into a fault. A header
// that never closes has one honest repair: closing it after its last key.
func (q *Quest) headerFault(err error) {
	f := Fault{Line: 1, Message: err.Error(), Blocks: true}
	if fe := (*frontmatter.Error)(nil); errors.As(err, &fe) {
		f.Line, f.Message = fe.Line, fe.Msg
	}
	if at := closeHeaderAt(q.src); at > 0 {
		line := lineOf(q.src, at) - 1
		f.Offer = fmt.Sprintf("close the header with --- after line %d", line)
		f.repair = func(src []byte) ([]byte, error) {
			at := closeHeaderAt(src)
			if at <= 0 {
				return nil, fmt.Errorf("repair %s: the file has changed; read it again", QuestFile)
			}
			return append(append(bytes.Clone(src[:at]), "---\n"...), src[at:]...), nil
		}
	}
	q.fault(f)
}

// closeHeaderAt finds where the closing line of an unclosed header belongs: 0
// if the header is closed or nothing in it looks like a key.
func closeHeaderAt(src []byte) int {
	at, end := 0, 0
	for i, line := range bytes.SplitAfter(src, []byte("\n")) {
		text := strings.TrimRight(string(line), "\r\n")
		if i == 0 {
			if strings.TrimPrefix(text, "\ufeff") != "---" {
				return 0
			}
		} else if text == "---" || text == "..." {
			return 0
		} else if key, _, ok := strings.Cut(text, ":"); ok && key != "" && key[0] != '-' && !strings.ContainsAny(key, " #*|") {
			end = at + len(line)
		} else {
			break
		}
		at += len(line)
	}
	return end
}

func (q *Quest) readHeader() {
	if !q.doc.HasHeader() {
		q.fault(Fault{Line: 1, Message: "no front matter; campaign-mode, phase and created are missing", Blocks: true,
			Offer: "add a header for a quest that is just beginning (mode Grow & Ship, phase 1)", repair: addHeader})
		return
	}
	for _, key := range []string{"campaign-mode", "phase", "created"} {
		if f, ok := q.doc.Field(key); ok && !f.Scalar {
			q.fault(Fault{Line: f.Line, Message: key + " is a list or a mapping; write one value", Blocks: true})
			return
		}
	}
	if value, line, ok := q.value("campaign-mode"); !ok {
		q.fault(Fault{Line: line, Message: "campaign-mode is missing", Blocks: true,
			Offer: "write campaign-mode: Grow & Ship, the default", repair: setKey("campaign-mode", string(DefaultMode))})
	} else if mode, err := ParseMode(value); err != nil {
		q.fault(Fault{Line: line, Message: err.Error(), Blocks: true})
	} else {
		q.Mode = mode
	}
	q.readPhase()
	value, line, ok := q.value("created")
	if !ok {
		q.fault(Fault{Line: line, Message: "created is missing"})
	}
	q.Created = value
}

func (q *Quest) readPhase() {
	value, line, ok := q.value("phase")
	phase, err := parsePhase(strings.TrimSpace(value))
	if ok && err == nil {
		q.Phase = phase
		return
	}
	f := Fault{Line: line, Message: "phase is missing", Blocks: true}
	if ok {
		f.Message = err.Error()
	}
	if likely := q.likelyPhase(); likely.Valid() {
		f.Offer = fmt.Sprintf("write phase: %d, which the last entries of the progress log speak for", int(likely))
		f.repair = setKey("phase", fmt.Sprint(int(likely)))
	}
	q.fault(f)
}

// value returns a header key's text and its line.
func (q *Quest) value(key string) (string, int, bool) {
	f, ok := q.doc.Field(key)
	if !ok {
		return "", 1, false
	}
	return strings.TrimSpace(f.Value), f.Line, strings.TrimSpace(f.Value) != ""
}

func setKey(key, value string) func([]byte) ([]byte, error) {
	return func(src []byte) ([]byte, error) {
		doc, err := frontmatter.Parse(src)
		if err != nil {
			return nil, err
		}
		if err := doc.Set(key, value); err != nil {
			return nil, err
		}
		return doc.Bytes(), nil
	}
}

func addHeader(src []byte) ([]byte, error) {
	doc, err := frontmatter.Parse(src)
	if err != nil {
		return nil, err
	}
	if doc.HasHeader() {
		return nil, fmt.Errorf("repair %s: the file has changed; read it again", QuestFile)
	}
	if err := doc.Set("campaign-mode", string(DefaultMode)); err != nil {
		return nil, err
	}
	if err := doc.Set("phase", "1"); err != nil {
		return nil, err
	}
	return doc.Bytes(), nil
}
