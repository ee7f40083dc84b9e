package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"conclave/engine"
	"conclave/internal/screen"
	"conclave/quest"
	"conclave/quest/flow"
	door "conclave/workspace"
)

// maxMessage bounds what a person says at once.
const maxMessage = 64 << 20

// asker answers the questions of flows: from a file first, then by asking the
// person. Where neither is there, a question's default counts, and one without
// a default stops the interaction, which stays open.
type asker struct {
	person  Person
	file    string   // that the answers are from
	answers []string // those that were not asked for yet
	byLine  bool     // one a line: an empty line is no block that somebody marked
	given   int      // answers that were asked for
}

// newAsker reads the answers from a file that the person named; "" for none.
func (a *App) newAsker(file string) (*asker, error) {
	k := &asker{person: a.Person}
	if file == "" {
		return k, nil
	}
	data, err := door.ReadNamed(a.AbsPath(file), maxMessage)
	if err != nil {
		return nil, namedError("read the answers: %w", err)
	}
	if !utf8.Valid(data) || strings.ContainsRune(string(data), 0) {
		return nil, usageError("%s: the answers are not UTF-8 text", file)
	}
	k.file = file
	k.answers, k.byLine = splitAnswers(string(data))
	return k, nil
}

// splitAnswers reads one answer a line, or, when there is a line of three
// dashes, the blocks between such lines.
func splitAnswers(text string) (answers []string, byLine bool) {
	if text == "" {
		return nil, true
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
		return lines, true
	}
	if blocks[0] == "" && strings.HasPrefix(text, "---\n") {
		blocks = blocks[1:]
	}
	return blocks, false
}

// passBlanks passes over empty lines while a talk goes on: they say nothing. The
// talk is over when nothing else follows, or what agrees to what is shown next.
func (k *asker) passBlanks() {
	next := slices.IndexFunc(k.answers, func(a string) bool { return strings.TrimSpace(a) != "" })
	if k.byLine && next > 0 && !quest.Agrees(k.answers[next]) && !isNumber(k.answers[next]) {
		k.answers = k.answers[next:]
	}
}

func isNumber(answer string) bool {
	_, err := strconv.Atoi(strings.TrimSpace(answer))
	return err == nil
}

// leftOver says what of the answers nobody asked for; "" for nothing.
func (k *asker) leftOver() string {
	left := slices.DeleteFunc(slices.Clone(k.answers), func(a string) bool { return strings.TrimSpace(a) == "" })
	if len(left) == 0 {
		return ""
	}
	first, _, _ := strings.Cut(strings.TrimSpace(left[0]), "\n")
	if len(left) == 1 {
		return fmt.Sprintf("an answer in %s was not asked for and is not used: %s", k.file, first)
	}
	return fmt.Sprintf("%d answers in %s were not asked for and are not used, from this one on: %s", len(left), k.file, first)
}

// somebody says whether anything can be answered at all.
func (k *asker) somebody() bool { return k.person != nil || len(k.answers) > 0 }

// types says whether a person is asked now, and no file answers first.
func (k *asker) types() bool { return k != nil && k.person != nil && len(k.answers) == 0 }

// Ask implements engine.Asker.
func (k *asker) Ask(ctx context.Context, q engine.Question) (string, error) {
	if q.Live && (len(k.answers) > 0 || k.person == nil) {
		return "", nil // a file answers what it was written for
	}
	if len(k.answers) > 0 {
		if q.Default == flow.EndTalk {
			k.passBlanks()
		}
		answer := k.answers[0]
		k.answers, k.given = k.answers[1:], k.given+1
		if answer == "" {
			answer = unsaid(q)
		}
		return answer, nil
	}
	if k.person != nil {
		return k.fromPerson(ctx, q)
	}
	if q.Default != "" {
		return unsaid(q), nil
	}
	used := ""
	if k.file != "" {
		used = "\n(the answers in " + k.file + " are used up)"
	}
	return "", environmentError("%w: %s%s", engine.ErrNobody, screen.Indent("  ", q.Text), used)
}

func (k *asker) fromPerson(ctx context.Context, q engine.Question) (string, error) {
	asked := Question{Question: q}
	if q.Default == flow.EndTalk {
		asked.Ends = saysItAll
	}
	answer, err := k.person.Ask(ctx, asked)
	if errors.Is(err, io.EOF) {
		if q.Default == "" {
			return "", errInputEnded() // to ask again, or to play on, would never end
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
		return unsaid(q), nil
	}
	return answer, nil
}

// saysItAll: nobody who agrees in a word has more lines to say.
func saysItAll(line string) bool {
	wish, ok := quest.Understand(line, false, nil)
	return quest.Agrees(line) || ok && wish.Action == quest.ActDone || strings.TrimSpace(line) == flow.EndTalk
}

// unsaid is the answer of somebody who said nothing.
func unsaid(q engine.Question) string {
	if q.Silent {
		return ""
	}
	return q.Default
}

func errInputEnded() error { return environmentError("%w: the input has ended", engine.ErrNobody) }

// line asks for one line for the app itself.
func (k *asker) line(ctx context.Context, question string) (string, error) {
	if k.person == nil {
		return "", environmentError("%w: %s", engine.ErrNobody, question)
	}
	q := Question{Question: engine.Question{Text: question}, Way: InLine}
	answer, err := orNothing(k.person.Ask(ctx, q))
	return strings.TrimSpace(answer), err
}

// next asks for one line for the app itself, from the file of answers first.
func (k *asker) next(ctx context.Context, question string) (string, error) {
	if len(k.answers) > 0 {
		answer := k.answers[0]
		k.answers, k.given = k.answers[1:], k.given+1
		return strings.TrimSpace(answer), nil
	}
	return k.line(ctx, question)
}

// orNothing takes the end of the input for an empty answer.
func orNothing(answer string, err error) (string, error) {
	if errors.Is(err, io.EOF) {
		return "", nil
	}
	return answer, err
}

// messageFiles are the files of a workspace from which the person speaks.
func (a *App) messageFiles(root string, talk Talk) []string {
	if a.Remote != nil {
		return nil
	}
	var names []string
	if talk.Message != nil && strings.HasPrefix(*talk.Message, "@") {
		names = append(names, (*talk.Message)[1:])
	}
	if talk.Answers != "" {
		names = append(names, talk.Answers)
	}
	real := func(name string) string {
		if to, err := filepath.EvalSymlinks(name); err == nil {
			return to
		}
		return name
	}
	var out []string
	for _, name := range names {
		if rel, err := filepath.Rel(real(root), real(a.AbsPath(name))); err == nil && filepath.IsLocal(rel) {
			out = append(out, filepath.ToSlash(rel))
		}
	}
	return out
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
	case a.Remote != nil || a.Literal: // words are words
		data = []byte(text)
	case text == "-":
		data, err = io.ReadAll(io.LimitReader(a.Stdin, maxMessage+1))
	case strings.HasPrefix(text, "@"):
		data, err = door.ReadNamed(a.AbsPath(text[1:]), maxMessage)
	default:
		data = []byte(text)
	}
	if err != nil {
		return "", namedError("read the message: %w", err)
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
