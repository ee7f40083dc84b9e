package app

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"slices"
)

// byName are the verbs that a face may call by name, with arguments that came
// from outside of the process: what a person does with a quest and at a table.
// What looks is called by a face itself; what gives trust, installs, starts
// programs of the person's or writes where they say is for the command line.
var byName = slices.Concat(questVerbs, tableVerbs)

var questVerbs = []string{
	"StartQuest", "ContinueQuest", "RepairQuest", "LogProgress", "WithdrawProgress", "ReturnToQuest", "ArchiveQuest",
	"Consult", "Council", "Checkpoint", "Confront", "Debrief", "Gate",
}

var tableVerbs = []string{
	"NewTable", "TalkNewTable", "PlayTable", "ResumeTable", "SayAtTable", "SignalTable", "EndSession", "ChatWithCharacter",
	"Seats", "RenameCharacter", "SaveTable", "RestoreTable", "ForkTable",
	"Roll", "RevealRoll", "OverrideRoll", "ForbidOverrides", "SeedDice", "RotateDice", "SealDice",
}

// jobFor says what a call is for: the quest, or the table of a name, which may have
// none yet.
func jobFor(verb string, args []json.RawMessage) (kind, name string) {
	_, in, err := (&App{}).bindNamed(context.Background(), verb, args)
	if err == nil {
		for _, arg := range in {
			if t, ok := arg.Interface().(interface{ atTable() string }); ok {
				return "table", t.atTable()
			}
		}
	}
	if slices.Contains(questVerbs, verb) {
		return "quest", ""
	}
	if len(args) > 0 {
		_ = json.Unmarshal(args[0], &name) // one that is made has no name where it is talked about
	}
	return "table", name
}

// Call runs a verb by its name, with its arguments, but for the context, as JSON.
// What it returns, but for the error, comes back as JSON; it may be there although
// there is an error. Words are words here: no file is read that they name, and no
// command is run that stands in them.
func (a *App) Call(ctx context.Context, verb string, args []json.RawMessage) ([]json.RawMessage, error) {
	called := *a
	called.Literal = true
	method, in, err := called.bindNamed(ctx, verb, args)
	if err != nil {
		return nil, err
	}
	return invoke(method, in)
}

// CheckCall says what is wrong with a call before it is made.
func (a *App) CheckCall(verb string, args []json.RawMessage) error {
	_, _, err := a.bindNamed(context.Background(), verb, args)
	return err
}

func (a *App) bindNamed(
	ctx context.Context, verb string, args []json.RawMessage,
) (reflect.Value, []reflect.Value, error) {
	if !slices.Contains(byName, verb) {
		return reflect.Value{}, nil, usageError("no verb is called %q", verb)
	}
	method, in, err := bind(ctx, a, verb, args)
	if err != nil {
		return method, in, err
	}
	for _, arg := range in {
		if name := ownHand(arg); name != "" {
			return method, in, usageError("%s is said on the command line: it gives trust or a key, "+
				"or says what file to read or to write", name)
		}
	}
	return method, in, nil
}

// byHand are the members of arguments that are the command line's alone: they let
// keys into a room, make something the person's own, or read or write a file that
// somebody names.
var byHand = []string{"Grants", "TrustBase", "Remote", "Base", "Sign", "Cache", "Receipt", "Answers", "Again"}

// ownHand is the first such member that is set.
func ownHand(arg reflect.Value) string {
	if arg.Kind() != reflect.Struct {
		return ""
	}
	for _, name := range byHand {
		if v := arg.FieldByName(name); v.IsValid() && !v.IsZero() {
			return name
		}
	}
	return ""
}

// bind finds a verb: a method of App that takes plain data, and mostly a context
// before it.
func bind(ctx context.Context, a *App, verb string, raw []json.RawMessage) (reflect.Value, []reflect.Value, error) {
	method := reflect.ValueOf(a).MethodByName(verb)
	if !method.IsValid() {
		return method, nil, usageError("no verb is called %q", verb)
	}
	var args []reflect.Value
	form := method.Type()
	if takesContext(method) {
		args = append(args, reflect.ValueOf(ctx))
	}
	if form.IsVariadic() || form.NumIn() != len(args)+len(raw) {
		return method, nil, usageError("%s is called with %d arguments", verb, len(raw))
	}
	for _, data := range raw {
		v := reflect.New(form.In(len(args)))
		read := json.NewDecoder(bytes.NewReader(data))
		read.DisallowUnknownFields()
		if err := read.Decode(v.Interface()); err != nil {
			return method, nil, usageError("%s: %w", verb, err)
		}
		args = append(args, v.Elem())
	}
	return method, args, nil
}

// takesContext says of a verb that whoever began it can end it.
func takesContext(method reflect.Value) bool {
	form := method.Type()
	return form.NumIn() > 0 && form.In(0) == reflect.TypeFor[context.Context]()
}

// invoke calls a verb and gives what it returns, but for the error, as data.
func invoke(method reflect.Value, args []reflect.Value) (results []json.RawMessage, err error) {
	for _, out := range method.Call(args) {
		if out.Type() == reflect.TypeFor[error]() {
			err, _ = out.Interface().(error)
			continue
		}
		raw, broken := json.Marshal(out.Interface())
		if broken != nil {
			return nil, environmentError("%w", broken)
		}
		results = append(results, raw)
	}
	return results, err
}
