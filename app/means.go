package app

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"conclave/config"
	"conclave/internal/atomicfile"
	"conclave/means"
	door "conclave/workspace"
)

// Means is what is here that could answer for roles: the servers of this machine
// first, then programs with a key, then keys alone.
func (a *App) Means(ctx context.Context) []means.Means {
	w := &workspace{root: a.Dir, app: a}
	if root, err := a.findRoot(); err == nil {
		w.root = root
	}
	if own, err := a.ownConfig(); err == nil {
		w.config = config.Merge(config.Config{}, own)
	}
	return append(means.Here(ctx, a.Getenv), means.Keys(a.Getenv, func(program string) bool {
		_, err := w.findProgram(program)
		return err == nil
	})...)
}

// Adopt has every role answered by a means with a model, "" for the one that is
// proposed: it writes the lines into the person's own configuration. A file that
// says already who plays is not changed: the lines are in the error.
func (a *App) Adopt(ctx context.Context, name, model string) (file string, lines []string, err error) {
	if file, lines, err = a.adoptable(ctx, name, model); err != nil {
		return file, nil, err
	}
	return file, lines, a.addToConfig(file, lines)
}

// adoptable is what would be written where to have a role answered by what is
// called so.
func (a *App) adoptable(ctx context.Context, name, model string) (file string, lines []string, err error) {
	if file = a.userConfigFile(); file == "" {
		return "", nil, environmentError("there is no home to keep your configuration in: set HOME or XDG_CONFIG_HOME")
	}
	all := a.Means(ctx)
	m, ok := means.Find(all, name)
	if !ok {
		return file, nil, environmentError("nothing called %q is here (%s)", name, namesOf(all))
	}
	if model, err = a.modelOf(ctx, m, model); err != nil {
		return file, nil, err
	}
	return file, m.Configure(model), nil
}

// ChooseMeans asks the person who shall play, where their own file does not say so
// yet and there is a choice; no name when nothing is to be done.
func (a *App) ChooseMeans(ctx context.Context) (name, model string, err error) {
	own, err := a.ownConfig()
	if err != nil || len(own.Agents) > 0 || a.Person == nil {
		return "", "", err
	}
	proposals := a.Means(ctx)
	if len(proposals) == 0 {
		return "", "", nil
	}
	text := "Who shall answer for your party?\n  1. the embedded party: no model, nothing leaves this machine"
	for i, p := range proposals {
		text += fmt.Sprintf("\n  %d. %s", i+2, p.What)
	}
	ask := &asker{person: a.Person}
	answer, err := ask.line(ctx, text+"\nA number, or nothing for 1: ")
	n, numErr := strconv.Atoi(cmp.Or(answer, "1"))
	switch {
	case err != nil:
		return "", "", err
	case numErr != nil || n < 1 || n > len(proposals)+1:
		return "", "", usageError("%q is none of the numbers: nothing was changed", answer)
	case n == 1:
		return "", "", nil
	}
	p := proposals[n-2]
	models, err := p.Offered(ctx, a.Getenv)
	if err != nil {
		models = p.Models // as far as it is known without being asked
	}
	text = "Which model?"
	if len(models) > 0 {
		text += " It has: " + means.Some(models, "")
	}
	first := ""
	if len(p.Models) > 0 {
		first = p.Models[0]
		text += "\nNothing for " + first
	}
	model, err = ask.line(ctx, text+": ")
	if model = cmp.Or(model, first); err == nil && model == "" {
		err = usageError("a model has to be named: nothing was changed")
	}
	return p.Name, model, err
}

func namesOf(all []means.Means) string {
	if len(all) == 0 {
		return "no key is set, and no server of models answers on this machine"
	}
	var names []string
	for _, m := range all {
		names = append(names, m.Name)
	}
	return "there are " + strings.Join(names, ", ")
}

// modelOf checks the model that a person named, as far as its provider says what
// there is.
func (a *App) modelOf(ctx context.Context, m means.Means, named string) (string, error) {
	names, err := m.Offered(ctx, a.Getenv)
	if named == "" && len(m.Models) > 0 {
		named = m.Models[0]
	}
	switch {
	case named == "" && err != nil:
		return "", environmentError("say which model (--model NAME): which there are cannot be found out: %w", err)
	case named == "":
		return "", usageError("say which model (--model NAME); %s has: %s", m.Name, means.Some(names, ""))
	case err == nil && !means.Has(names, named):
		return "", environmentError("%w", &means.NoModelError{Model: named, Where: m.Name, Names: names})
	}
	return named, nil
}

// addToConfig adds lines to the person's own file. What is there stays as it is.
func (a *App) addToConfig(file string, lines []string) error {
	text, err := door.ReadNamed(file, door.MaxConfig)
	if err != nil && !os.IsNotExist(err) {
		return environmentError("%w", err)
	}
	own, err := config.Parse(text)
	if err != nil {
		return environmentError("%s: %w", file, err)
	}
	if len(own.Agents) > 0 || len(own.Providers) > 0 {
		return noError("%s says already who plays, and is not changed; to use this, put into it:\n  %s",
			file, strings.Join(lines, "\n  "))
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	text = append(text, strings.Join(lines, "\n")+"\n"...)
	if _, err := config.Parse(text); err != nil {
		return environmentError("%s would not be readable: %w; put into it by hand:\n  %s",
			file, err, strings.Join(lines, "\n  "))
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return environmentError("%w", err)
	}
	return refusedHere(atomicfile.Replace(file, text, 0o600))
}

// examineMeans says which keys are set, by name, and which servers of models
// answer here; with the first of them a configuration that would use it.
func (a *App) examineMeans(ctx context.Context) []Finding {
	set, unset := means.Variables(a.Getenv)
	keys := Finding{What: "keys", OK: len(set) > 0, State: "none is set", Hint: "looked for " + strings.Join(unset, ", ")}
	if len(set) > 0 {
		keys.State, keys.Hint = "set: "+strings.Join(set, ", "), ""
	}
	servers := Finding{What: "local models", State: "no server answers",
		Hint: "looked for Ollama, LM Studio, llama.cpp and vLLM"}
	var local []string
	proposals := a.Means(ctx)
	for _, p := range proposals {
		if p.Local {
			local = append(local, fmt.Sprintf("%s: %s", p.What, means.Some(p.Models, "")))
		}
	}
	if len(local) > 0 {
		servers.OK, servers.State, servers.Hint = true, strings.Join(local, "\n"), ""
	}
	for i := range proposals {
		if len(proposals[i].Lines) > 0 {
			servers.Proposal = &proposals[i]
			break
		}
	}
	return []Finding{keys, servers}
}
