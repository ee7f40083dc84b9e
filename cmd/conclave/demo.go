package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"conclave/agent"
	"conclave/agent/scripted"
	"conclave/record"
	"conclave/transcript"
)

//go:embed demo
var demoFiles embed.FS

func newDemoCommand(env *environment) *cobra.Command {
	var keep string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See it work: no key, no network",
		Long: `Demo plays a short consultation with a scripted agent, records every word of
it, prints it, and checks the record.`,
		Example: "  conclave demo\n  conclave demo --keep /tmp/demo      keep the record to look at",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDemo(cmd.Context(), env, keep)
		},
	}
	cmd.Flags().StringVar(&keep, "keep", "", "keep the record in this directory")
	return cmd
}

// demo is one consultation on the record.
type demo struct {
	env     *environment
	style   style
	writer  *record.Writer
	emitter *transcript.Emitter
	session agent.Session
}

func runDemo(ctx context.Context, env *environment, keep string) (err error) {
	root := keep
	if root == "" {
		if root, err = os.MkdirTemp("", "conclave-demo-"); err != nil {
			return environmentError("%w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	}
	d := &demo{env: env, style: env.style()}
	if err := d.open(ctx, inDir(env, root)); err != nil {
		return err
	}
	defer d.writer.Close()
	if err := d.talk(ctx); err != nil {
		return err
	}
	return d.check()
}

func (d *demo) open(ctx context.Context, root string) error {
	run := record.NewRunID(time.Now())
	path, err := record.Path(root, run)
	if err != nil {
		return err
	}
	if d.writer, err = record.Create(path, record.Header{Run: run, Program: "conclave " + version}); err != nil {
		return environmentError("%w", err)
	}
	d.emitter, err = transcript.NewEmitter(transcript.Options{
		PromptName: "demo.consult.cat", Adapter: transcript.AdapterScripted, Store: d.writer,
	})
	if err != nil {
		return err
	}
	src, err := demoFiles.ReadFile("demo/consultation.script")
	if err != nil {
		return err
	}
	script, err := scripted.Parse(src)
	if err != nil {
		return err
	}
	files, err := fs.Sub(demoFiles, "demo")
	if err != nil {
		return err
	}
	d.session, err = (&scripted.Agent{Script: script}).Start(ctx, agent.Spec{Role: "cat", Emitter: d.emitter, Files: files, Blobs: d.writer})
	return err
}

func (d *demo) talk(ctx context.Context) error {
	fmt.Fprintln(d.env.Stdout, d.style.bold("A consultation, word for word"))
	if err := d.emitter.Start(); err != nil {
		return err
	}
	for _, words := range []string{
		"We want to ship on Friday. What do you see?",
		"Mara wrote the rollback. She is in until six.",
	} {
		fmt.Fprintf(d.env.Stdout, "\n%s %s\n", d.style.bold("User:"), words)
		turn, err := d.session.Send(ctx, agent.Message{Text: words})
		if err != nil {
			return err
		}
		if err := d.show(turn); err != nil {
			return err
		}
		// Nothing is answered that is not on the disk.
		if err := d.writer.Commit(); err != nil {
			return err
		}
	}
	return errors.Join(d.session.Stop(ctx), d.emitter.Stop())
}

func (d *demo) show(turn agent.Turn) error {
	for {
		e, err := turn.Next()
		if errors.Is(err, io.EOF) {
			fmt.Fprintf(d.env.Stdout, "\n%s %s\n", d.style.bold("🐱 Cat:"), turn.Reply().Text)
			return nil
		}
		if err != nil {
			return err
		}
		if e.Entry == nil {
			continue
		}
		switch e.Entry.Type {
		case transcript.Thinking, transcript.ToolUse, transcript.ToolResult:
			d.aside(e.Entry)
		}
	}
}

// aside prints in one line what the agent did besides speaking.
func (d *demo) aside(e *transcript.Entry) {
	var detail struct {
		Text, Name, Content string
		Input               struct{ Path string }
		IsError             bool `json:"is_error"`
	}
	if err := json.Unmarshal(e.Detail, &detail); err != nil {
		return
	}
	line := ""
	switch first, _, _ := strings.Cut(detail.Content, "\n"); {
	case e.Type == transcript.Thinking:
		line = "thinks: " + detail.Text
	case e.Type == transcript.ToolUse:
		line = detail.Name + "s " + detail.Input.Path
	case detail.IsError:
		line = "  refused: " + detail.Content
	default:
		line = "  gets: " + first + " …"
	}
	fmt.Fprintln(d.env.Stdout, d.style.dim("   · "+line))
}

func (d *demo) check() error {
	seal, err := d.writer.Seal("done")
	if err != nil {
		return err
	}
	out := d.env.Stdout
	fmt.Fprintf(out, "\n%s\n", d.style.bold("What the record holds"))
	printSummary(out, d.emitter.Summary())
	fmt.Fprintf(out, "\n%s\n", d.style.bold("Is it whole?"))
	if err := checkTranscript(d.env, d.writer.Path(), false); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s every word is there, in order; a changed byte would show against %.16s…\n", d.style.green("yes:"), seal.Head)
	return nil
}
