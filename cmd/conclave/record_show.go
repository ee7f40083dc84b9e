package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"conclave/internal/jsontext"
	"conclave/internal/screen"
	"conclave/record"
	"conclave/session/claude"
	"conclave/transcript"
)

func newRecordListCommand(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the records of this workspace",
		Example: "  conclave record list\n  conclave record list --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return env.listRecords(asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// listed is a record in a list.
type listed struct {
	record.Info
	Adapter    string    `json:"adapter,omitempty"`
	PromptName string    `json:"prompt_name,omitempty"`
	Session    string    `json:"session_id,omitempty"`
	Created    time.Time `json:"created,omitzero"`
	Fault      string    `json:"fault,omitempty"`
}

func (env *environment) listRecords(asJSON bool) error {
	root, err := env.findRoot()
	if err != nil {
		return err
	}
	found, err := record.List(record.Dir(root))
	if err != nil {
		return environmentError("%w", err)
	}
	list := []listed{}
	for _, info := range found {
		list = append(list, describeRecord(info))
	}
	if asJSON {
		return env.Stdout.JSON(list)
	}
	if len(list) == 0 {
		env.Stdout.Printf("no records here; conclave record watch makes some\n")
		return nil
	}
	for _, l := range list {
		what := strings.TrimSpace(l.Adapter + " " + l.PromptName)
		if l.Fault != "" {
			what = l.Fault
		}
		env.Stdout.Printf("%s  %s  %8d bytes  %s\n", l.Run, l.Modified.Format("2006-01-02 15:04"), l.Size, what)
	}
	return nil
}

// describeRecord reads how a record begins, and no more.
func describeRecord(info record.Info) listed {
	l := listed{Info: info}
	r, err := record.Open(info.Path)
	if err != nil {
		l.Fault = err.Error()
		return l
	}
	defer r.Close()
	if !r.Next() {
		l.Fault = "no header: the run never began"
		if r.Err() != nil {
			l.Fault = r.Err().Error()
		}
		return l
	}
	h := r.Header()
	if err := record.Named(info.Path, h); err != nil {
		l.Fault = err.Error()
	}
	l.Created, l.Adapter = h.Created, h.Attributes["adapter"]
	l.PromptName, l.Session = h.Attributes["prompt_name"], h.Attributes["session_id"]
	return l
}

// entryView is how entries are picked and printed.
type entryView struct {
	types, sources []string
	raw, asJSON    bool
}

func (v *entryView) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&v.types, "type", nil, "only entries of this `TYPE`; may be given more than once")
	f.StringSliceVar(&v.sources, "source", nil, "only entries of this `SOURCE`: main, subagent:ID")
	f.BoolVar(&v.raw, "raw", false, "print the source's own lines, and nothing else")
	f.BoolVar(&v.asJSON, "json", false, "print log records, a line each")
}

func (v *entryView) check() error {
	for _, t := range v.types {
		if !transcript.Type(t).Valid() {
			return usageError("no entry type %q: %v", t, transcript.Types())
		}
	}
	if v.raw && v.asJSON {
		return usageError("--raw and --json do not go together: raw is in the JSON")
	}
	return nil
}

func newRecordShowCommand(env *environment) *cobra.Command {
	var v entryView
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Print the entries of a record",
		Example: `  conclave record show claude-11111111-1111-4111-8111-111111111111
  conclave record show ID --type tool_use --type tool_result --source main
  conclave record show ID --raw > session.jsonl`,
		Args: oneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return env.showRecord(cmd.Context(), args[0], v, false)
		},
	}
	v.flags(cmd)
	return cmd
}

func newRecordTailCommand(env *environment) *cobra.Command {
	var v entryView
	cmd := &cobra.Command{
		Use:   "tail ID",
		Short: "Print the entries of a record as they come",
		Long: `Tail prints the entries of a record and goes on as new ones are recorded,
until the record is sealed or it is interrupted.`,
		Example: "  conclave record tail ID\n  conclave record tail ID --type assistant_message --source main",
		Args:    oneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return env.showRecord(cmd.Context(), args[0], v, true)
		},
	}
	v.flags(cmd)
	return cmd
}

func (env *environment) showRecord(ctx context.Context, id string, v entryView, follow bool) error {
	if err := v.check(); err != nil {
		return err
	}
	root, err := env.findRoot()
	if err != nil {
		return err
	}
	path, err := env.recordFile(root, id)
	if err != nil {
		return err
	}
	r, err := record.Open(path)
	if err != nil {
		return environmentError("%w", err)
	}
	defer r.Close()
	next := r.Next
	if follow {
		next = func() bool { return r.Follow(ctx, nil, tailPoll) }
	}
	for next() {
		if f := r.Frame(); f.Kind == record.KindLog && !f.Withheld {
			if err := v.print(env, f.Payload); err != nil {
				return err
			}
		}
	}
	if err := r.Err(); err != nil && !errors.Is(err, context.Canceled) {
		return noError("%s: %w", id, err)
	}
	return nil
}

// print prints one log record, if it is an entry that was asked for.
func (v *entryView) print(env *environment, line []byte) error {
	e, err := transcript.ParseEntry(line)
	if errors.Is(err, transcript.ErrOtherEvent) {
		return nil
	}
	if err != nil {
		return noError("an entry is incomplete: %w", err)
	}
	if !among(v.types, string(e.Type)) || !among(v.sources, e.Source) {
		return nil
	}
	switch {
	case v.asJSON:
		_, err = env.Stdout.Raw().Write(append(slices.Clip(line), '\n'))
	case v.raw && e.Raw == nil:
	case v.raw:
		_, err = env.Stdout.Raw().Write(append(slices.Clip(e.Raw), '\n'))
	default:
		err = printEntry(env.Stdout, &e)
	}
	return err
}

func among(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return len(list) == 0
}

func printEntry(w *screen.Writer, e *transcript.Entry) error {
	source := screen.Text{}
	if e.Source != transcript.Main {
		source = screen.Sprintf("%s ", screen.Dim(e.Source))
	}
	return w.Printf("%s %5d %s%s%s\n", screen.Dim(e.Timestamp.Format("15:04:05.000")), e.Sequence, source,
		screen.Bold(string(e.Type)), glimpse(e))
}

// glimpse is what an entry says, in one short line.
func glimpse(e *transcript.Entry) string {
	var parts []string
	for _, key := range []string{"subtype", "name"} {
		if text, ok := jsontext.String(jsontext.Get(e.Detail, key)); ok && text != "" {
			parts = append(parts, "["+text+"]")
		}
	}
	text, ok := jsontext.String(jsontext.Get(e.Detail, "text"))
	if !ok {
		text = claude.Text(e.Detail)
	}
	if text = strings.Join(strings.Fields(text), " "); text != "" {
		if r := []rune(text); len(r) > 100 {
			text = string(r[:100]) + "…"
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return ""
	}
	return " " + strings.Join(parts, " ")
}
