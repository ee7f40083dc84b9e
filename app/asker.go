package app

import (
	"context"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"conclave/engine"
	"conclave/internal/screen"
	door "conclave/workspace"
)

// maxMessage bounds what a person says at once.
const maxMessage = 64 << 20

// asker answers the questions of flows: from a file first, then by asking the
// person. Where neither is there, a question's default counts, and one without
// a default stops the interaction, which stays open.
type asker struct {
	person  Person
	answers []string
	// strict: the end of the input is nobody, not an empty answer. A table
	// would otherwise play on without the person for ever.
	strict bool
}

// newAsker reads the answers from a file that the person named; "" for none.
func (a *App) newAsker(file string, strict bool) (*asker, error) {
	k := &asker{person: a.Person, strict: strict}
	if file == "" {
		return k, nil
	}
	data, err := door.ReadNamed(a.AbsPath(file), maxMessage)
	if err != nil {
		return nil, environmentError("read the answers: %w", err)
	}
	if !utf8.Valid(data) || strings.ContainsRune(string(data), 0) {
		return nil, usageError("%s: the answers are not UTF-8 text", file)
	}
	k.answers = splitAnswers(string(data))
	return k, nil
}

// splitAnswers reads one answer a line, or, when there is a line of three
// dashes, the blocks between such lines.
func splitAnswers(text string) []string {
	if text == "" {
		return nil
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	blocks := []string{""}
	found, fresh := false, true
	for _, l := range lines {
		if l == "---" {
			found, fresh = true, true
			blocks = append(blocks, "")
			continue
		}
		if !fresh {
			blocks[len(blocks)-1] += "\n"
		}
		blocks[len(blocks)-1] += l
		fresh = false
	}
	if !found {
		return lines
	}
	if blocks[0] == "" && strings.HasPrefix(text, "---\n") {
		blocks = blocks[1:]
	}
	return blocks
}

// somebody says whether anything can be answered at all.
func (k *asker) somebody() bool { return k.person != nil || len(k.answers) > 0 }

// Ask implements engine.Asker.
func (k *asker) Ask(ctx context.Context, q engine.Question) (string, error) {
	if len(k.answers) > 0 {
		answer := k.answers[0]
		k.answers = k.answers[1:]
		if answer == "" {
			answer = q.Default
		}
		return answer, nil
	}
	if k.person != nil {
		return k.fromPerson(ctx, q)
	}
	if q.Default != "" {
		return q.Default, nil
	}
	return "", environmentError("%w: %s\n(without a terminal: --message or --answers)",
		engine.ErrNobody, screen.Indent("  ", q.Text))
}

func (k *asker) fromPerson(ctx context.Context, q engine.Question) (string, error) {
	answer, err := k.person.Ask(ctx, Question{Question: q})
	if errors.Is(err, io.EOF) {
		if k.strict && q.Default == "" {
			return "", errInputEnded()
		}
		err = nil
	}
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(answer) == "" {
		if q.Default == "" && len(q.Options) == 0 {
			return "", nil
		}
		return q.Default, nil
	}
	return answer, nil
}

func errInputEnded() error { return environmentError("%w: the input has ended", engine.ErrNobody) }

// yes asks a question of the app itself.
func (k *asker) yes(ctx context.Context, question string, otherwise bool) (bool, error) {
	q := Question{Question: engine.Question{Text: question, Default: "n"}, Way: YesNo}
	if otherwise {
		q.Default = "y"
	}
	answer, err := orNothing(k.person.Ask(ctx, q))
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, err
	case "n", "no":
		return false, err
	}
	return otherwise, err
}

// line asks for one line for the app itself.
func (k *asker) line(ctx context.Context, question string) (string, error) {
	q := Question{Question: engine.Question{Text: question}, Way: InLine}
	answer, err := orNothing(k.person.Ask(ctx, q))
	return strings.TrimSpace(answer), err
}

// orNothing takes the end of the input for an empty answer.
func orNothing(answer string, err error) (string, error) {
	if errors.Is(err, io.EOF) {
		return "", nil
	}
	return answer, err
}

// words reads what a person said: TEXT, @FILE, or - for what comes in. Nothing
// of it is changed: it will stand in the conversation byte for byte.
func (a *App) words(said *string) (string, error) {
	if said == nil {
		return "", nil
	}
	var data []byte
	var err error
	switch text := *said; {
	case text == "-":
		data, err = io.ReadAll(io.LimitReader(a.Stdin, maxMessage+1))
	case strings.HasPrefix(text, "@"):
		data, err = door.ReadNamed(a.AbsPath(text[1:]), maxMessage)
	default:
		data = []byte(text)
	}
	if err != nil {
		return "", environmentError("read the message: %w", err)
	}
	if len(data) > maxMessage {
		return "", usageError("the message has more than %d bytes", maxMessage)
	}
	if !utf8.Valid(data) {
		return "", usageError("the message is not UTF-8 text")
	}
	if strings.ContainsRune(string(data), 0) {
		return "", usageError("the message holds a NUL byte: it is no text")
	}
	return string(data), nil
}
