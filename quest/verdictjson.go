package quest

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// VerdictError is an answer that is no verdict. Problems say precisely what an
// evaluator must put right, one line each; they quote nothing but its answer.
type VerdictError struct{ Problems []string }

func (e *VerdictError) Error() string {
	return "read verdict: " + strings.Join(e.Problems, "; ")
}

//go:embed guardian.schema.json
var guardianSchema string

//go:embed dragon.schema.json
var dragonSchema string

// GuardianSchema is the JSON schema of a Guardian's structured answer. Every
// property is required and none may be added, as the strictest programs ask.
func GuardianSchema() []byte {
	return schema(guardianSchema)
}

// DragonSchema is the JSON schema of a Dragon's structured answer.
func DragonSchema() []byte {
	return schema(dragonSchema)
}

func schema(text string) []byte {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		return []byte(text) // cannot happen: a test reads both schemas
	}
	return b.Bytes()
}

// ParseGuardianVerdict reads a Guardian's structured answer. The error is a
// *VerdictError.
func ParseGuardianVerdict(answer []byte) (GuardianVerdict, error) {
	var v GuardianVerdict
	if problems := decodeAnswer(answer, &v); len(problems) > 0 {
		return GuardianVerdict{}, &VerdictError{problems}
	}
	v.Verdict = canonical(v.Verdict, Approved, Blocked, ConditionalApproval, guardianUndecided)
	if problems := v.check(); len(problems) > 0 {
		return GuardianVerdict{}, &VerdictError{problems}
	}
	return v, nil
}

// ParseDragonVerdict reads a Dragon's structured answer and holds it against
// the criteria. The error is a *VerdictError.
func ParseDragonVerdict(answer []byte, t verdictTest) (DragonVerdict, error) {
	var v DragonVerdict
	if problems := decodeAnswer(answer, &v); len(problems) > 0 {
		return DragonVerdict{}, &VerdictError{problems}
	}
	v.Verdict = canonical(v.Verdict, DragonSlain, DragonPrevails, dragonUndecided)
	for i := range v.Criteria {
		v.Criteria[i].Status = canonical(v.Criteria[i].Status, statuses...)
	}
	if problems := v.check(t); len(problems) > 0 {
		return DragonVerdict{}, &VerdictError{problems}
	}
	return v, nil
}

// canonical accepts another letter case and _ or - for a space; nothing else.
func canonical[T ~string](value T, allowed ...T) T {
	plain := func(s T) string {
		return strings.ToLower(oneLine(strings.NewReplacer("_", " ", "-", " ").Replace(string(s))))
	}
	for _, a := range allowed {
		if plain(value) == plain(a) {
			return a
		}
	}
	return value
}

// decodeAnswer reads one JSON object, bare or in one fenced block. Anything
// else is a problem: an answer that must be searched for is a guess.
func decodeAnswer(answer []byte, v any) []string {
	text := unfence(bytes.TrimSpace(answer))
	if len(text) == 0 {
		return []string{"the answer is empty; give one JSON object"}
	}
	if text[0] != '{' {
		return []string{"the answer is not a JSON object; give the object alone, without words around it"}
	}
	if problem := duplicateKey(text); problem != "" {
		return []string{problem}
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return []string{jsonProblem(err)}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return []string{"something follows the JSON object; give the object alone"}
	}
	return nil
}

func unfence(text []byte) []byte {
	if !bytes.HasPrefix(text, []byte("```")) || !bytes.HasSuffix(text, []byte("\n```")) {
		return text
	}
	_, rest, ok := bytes.Cut(text, []byte("\n"))
	if !ok || len(rest) < 3 {
		return text
	}
	return bytes.TrimSpace(rest[:len(rest)-3])
}

func jsonProblem(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("the JSON is broken at byte %d: %v", syntax.Offset, syntax)
	case errors.As(err, &kind):
		field, want := cmp.Or(kind.Field, "the answer"), kindName(kind.Type.Kind().String())
		return fmt.Sprintf("%s: is a JSON %s, want %s", field, kind.Value, want)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the JSON ends too early"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

func kindName(kind string) string {
	names := map[string]string{"slice": "a list", "struct": "an object", "int": "a whole number"}
	return cmp.Or(names[kind], "a "+kind)
}

// duplicateKey finds a key that stands twice in one object: readers disagree
// about which one counts, so neither does.
func duplicateKey(text []byte) string {
	dec := json.NewDecoder(bytes.NewReader(text))
	type frame struct {
		keys  map[string]bool
		isKey bool
	}
	var stack []*frame
	value := func() {
		if n := len(stack); n > 0 && stack[n-1].keys != nil {
			stack[n-1].isKey = true
		}
	}
	for {
		tok, err := dec.Token()
		if err != nil {
			return "" // the decoder that follows says what is wrong
		}
		top := (*frame)(nil)
		if n := len(stack); n > 0 {
			top = stack[n-1]
		}
		switch d, isDelim := tok.(json.Delim); {
		case isDelim && d == '{':
			stack = append(stack, &frame{keys: map[string]bool{}, isKey: true})
		case isDelim && d == '[':
			stack = append(stack, &frame{})
		case isDelim:
			stack = stack[:len(stack)-1]
			if value(); len(stack) == 0 {
				return ""
			}
		case top != nil && top.keys != nil && top.isKey:
			key, _ := tok.(string)
			if top.keys[strings.ToLower(key)] {
				return fmt.Sprintf("%s: stands twice in one object", clip(key, 40))
			}
			top.keys[strings.ToLower(key)], top.isKey = true, false
		default:
			value()
		}
	}
}
