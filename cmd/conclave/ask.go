package main

import (
	"conclave/internal/screen"
	"context"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"conclave/engine"
	door "conclave/workspace"
)

// asker answers the questions of flows: from a file first, then by asking the
// person at the terminal. Where neither is there, a question's default counts,
// and one without a default stops the interaction, which stays open.
type asker struct {
	env     *environment
	answers []string
	out     *screen.Writer
	// strict: the end of the input is nobody, not an empty answer. A table
	// would otherwise play on without the person for ever.
	strict bool
}

func newAsker(env *environment, flags campaignFlags) (*asker, error) {
	a := &asker{env: env, out: env.Stdout}
	if flags.asJSON {
		a.out = env.Stderr
	}
	if flags.answers == "" {
		return a, nil
	}
	data, err := door.ReadNamed(inDir(env, flags.answers), maxMessage)
	if err != nil {
		return nil, environmentError("read the answers: %w", err)
	}
	if !utf8.Valid(data) || strings.ContainsRune(string(data), 0) {
		return nil, usageError("%s: the answers are not UTF-8 text", flags.answers)
	}
	a.answers = splitAnswers(string(data))
	return a, nil
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

// person says whether somebody is at the terminal.
func (a *asker) person() bool { return a.env.StdinIsTerminal }

// Ask implements engine.Asker.
func (a *asker) Ask(ctx context.Context, q engine.Question) (string, error) {
	if len(a.answers) > 0 {
		answer := a.answers[0]
		a.answers = a.answers[1:]
		if answer == "" {
			answer = q.Default
		}
		return answer, nil
	}
	if a.person() {
		return a.atTerminal(ctx, q)
	}
	if q.Default != "" {
		return q.Default, nil
	}
	return "", environmentError("%w: %s\n(without a terminal: --message or --answers)", engine.ErrNobody, screen.Indent("  ", q.Text))
}

func (a *asker) atTerminal(ctx context.Context, q engine.Question) (string, error) {
	a.out.Printf("\n%s\n", screen.Bold(screen.Indent("  ", q.Text)))
	for i, o := range q.Options {
		a.out.Printf("  %d. %s", i+1, o.Label)
		if o.Hint != "" {
			a.out.Printf(" %s", screen.Dim("– "+o.Hint))
		}
		a.out.Printf("\n")
	}
	if q.Default != "" && len(q.Options) > 0 {
		a.out.Printf("%s", screen.Dim("["+q.Default+"] "))
	}
	a.out.Printf("> ")
	read := a.env.keyboard().readAnswer
	if q.Lines {
		read = a.env.keyboard().readLines
	}
	answer, err := read(ctx)
	if errors.Is(err, io.EOF) {
		a.out.Printf("\n")
		if a.strict && q.Default == "" {
			return "", environmentError("%w: the input has ended", engine.ErrNobody)
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

// yes asks a question of the command itself.
func (a *asker) yes(ctx context.Context, question string, otherwise bool) (bool, error) {
	word := "y/N"
	if otherwise {
		word = "Y/n"
	}
	a.out.Printf("\n%s [%s] ", screen.Indent("  ", question), word)
	answer, err := orNothing(a.env.keyboard().readAnswer(ctx))
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, err
	case "n", "no":
		return false, err
	}
	return otherwise, err
}

// line asks for one line of the command itself.
func (a *asker) line(ctx context.Context, question string) (string, error) {
	a.out.Printf("\n%s\n> ", screen.Indent("  ", question))
	answer, err := orNothing(a.env.keyboard().readAnswer(ctx))
	return strings.TrimSpace(answer), err
}

// orNothing takes the end of the input for an empty answer.
func orNothing(answer string, err error) (string, error) {
	if errors.Is(err, io.EOF) {
		return "", nil
	}
	return answer, err
}
