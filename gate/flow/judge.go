package flow

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"conclave/agent"
	"conclave/audit"
	"conclave/gate"
	"conclave/gateway"
	"conclave/policy"
	"conclave/profile"
	"conclave/quest"
	"conclave/quest/instructions"
	"conclave/quest/judging"
	"conclave/receipt"
	"conclave/record"
	"conclave/room"
	"conclave/seat"
)

// sitting is one judge in its seat. It implements judging.Seat.
type sitting struct {
	g    *run
	ctx  context.Context
	id   string // of its run
	seat *seat.Seat
	answers
}

// answers are what a judge says, as it comes or as its record has it.
type answers struct {
	take    func(seat.Turn) (agent.Reply, bool, error)
	history func() *seat.History
	none    string // why there is no answer
}

// askOne asks one judge. What goes wrong with it is its failure and no error; an
// error says that the gate cannot go on.
func (g *run) askOne(ctx context.Context, n int) (receipt.Judge, error) {
	j := receipt.Judge{Number: n, Run: record.NewRunID(g.Now()), Given: []audit.Item{}, Denied: []receipt.Denied{}}
	c := caseOf(g.Case, g.Criteria, g.checks)
	plan, err := g.plan(n, c)
	if err != nil {
		return j, err
	}
	j.Instructions = gate.SHA256([]byte(plan.System))
	if j.Provider, err = g.Dress(n, &plan); err != nil {
		return j, err
	}
	s := &sitting{g: g, ctx: ctx, id: j.Run}
	err = s.judge(plan, c)
	if sealing := g.seal(ctx, j.Run, err); sealing != nil {
		return j, sealing
	}
	if ctx.Err() != nil {
		return j, context.Cause(ctx)
	}
	j.Denied = append(j.Denied, counted(plan.Denied)...)
	if err := g.prove(&j); err != nil {
		return j, err
	}
	result(&j, c, err, g.lines())
	return j, nil
}

// caseOf is what is put before each judge.
func caseOf(k gate.Case, criteria []quest.Criterion, checks []quest.CheckResult) *judging.Case {
	c := &judging.Case{Role: policy.Role(k.Role), Quest: &quest.Quest{Mode: quest.Ship, Criteria: criteria},
		Expect: k.Expect, Checks: checks}
	if k.Work.Diff != nil {
		c.Change = quest.ChangeFile
	}
	return c
}

// plan plans the seat of a judge: what the case holds, and nothing else.
func (g *run) plan(n int, c *judging.Case) (seat.Plan, error) {
	role := g.role()
	var checks []byte
	if len(g.checks) > 0 {
		checks = c.ChecksText()
	}
	grants := g.grants(checks)
	p := seat.Plan{
		Role: string(role), PromptName: Role + "." + string(role),
		Attributes: map[string]string{"flow": Role, "phase": Role, "quest": g.Quest, "gate": g.id,
			"judge": number(n, g.Case.N)},
		Tools: nil, Stamps: g.body.Stamps, Account: g.Account,
		Room: room.Plan{Role: string(role), Level: room.Level(policy.Required(role)),
			Fallback: room.Level(policy.Fallback(role)), Outside: []string{g.Root}},
	}
	p.Tools = append(p.Tools, c.Tool())
	for _, piece := range grants.Given {
		p.Room.Grants = append(p.Room.Grants, room.Grant{Kind: string(piece.Kind), Name: piece.Name, Bytes: piece.Bytes})
	}
	for _, piece := range grants.Denied {
		p.Denied = append(p.Denied, seat.Denied{Kind: string(piece.Kind), Name: piece.Name,
			Reason: piece.Decision.Reason, Text: piece.Trace})
	}
	work, err := judging.WorkGrants(role, g.Work)
	if err != nil {
		return p, err
	}
	p.Room.Grants = append(p.Room.Grants, work...)
	face, _ := profile.Lookup(string(role))
	bare := profile.NewFace(face, nil)
	p.System, err = instructions.Render(role, g.Instructions, instructions.Told{
		Name: bare.Name(), Tag: bare.Tag(), Mode: string(quest.Ship), Purpose: quest.PurposeConfrontation,
	})
	return p, err
}

// judge opens the seat and asks.
func (s *sitting) judge(plan seat.Plan, c *judging.Case) (err error) {
	s.seat, err = s.g.seats.Open(s.ctx, s.id, func(context.Context) (seat.Plan, error) { return plan, nil })
	if err != nil {
		return err
	}
	s.take, s.history = s.takeTurn, s.seat.History
	return s.hear(c)
}

// hear takes the verdict, if there is one.
func (a *answers) hear(c *judging.Case) error {
	if err := c.Judge(a); err != nil {
		return err
	}
	switch {
	case a.none != "":
		return errors.New(a.none)
	case c.Guardian == nil && c.Dragon == nil:
		return fmt.Errorf("the answer was no verdict, also when it was asked for once more: %s",
			strings.Join(c.Problems, "; "))
	}
	return nil
}

const assessment = "t1"

// Assess implements judging.Seat.
func (a *answers) Assess(framing string) (agent.Reply, bool, error) {
	reply, ok, err := a.take(seat.Turn{ID: assessment, Parts: engineSays(framing)})
	if err == nil && ok && strings.TrimSpace(reply.Text) == "" && judging.Structured(reply) == nil {
		if handed, _ := a.Submitted(); handed == nil {
			a.none = strings.TrimSpace("it said nothing " + reply.Stopped)
			return reply, false, nil
		}
	}
	return reply, ok, err
}

// Request implements judging.Seat.
func (a *answers) Request(id, words string, schema []byte) (agent.Reply, bool, error) {
	return a.take(seat.Turn{ID: id, Parts: engineSays(words), Schema: schema})
}

// Submitted implements judging.Seat.
func (a *answers) Submitted() ([]byte, error) {
	return a.history().Turn(assessment).Handed(judging.ToolName), nil
}

func (s *sitting) takeTurn(t seat.Turn) (agent.Reply, bool, error) {
	if a := s.g.Account; a != nil && !s.seat.Free() {
		if err := a.Afford(); err != nil {
			s.none = err.Error()
			return agent.Reply{}, false, nil
		}
	}
	reply, err := s.seat.Take(s.ctx, t)
	return reply, err == nil, err
}

func engineSays(text string) []audit.Part {
	return []audit.Part{{Origin: audit.FromEngine, Text: text}}
}

// seal ends a judge's run, whatever came of it.
func (g *run) seal(ctx context.Context, id string, failed error) error {
	reason := "done"
	switch {
	case ctx.Err() != nil:
		reason = "stopped"
	case failed != nil:
		reason = "failed"
	}
	if err := g.seats.Seal(id, reason, nil); err != nil {
		return fmt.Errorf("end the run of a judge: %w", err)
	}
	return nil
}

// prove takes from the sealed record of a judge what the receipt says of it, and
// audits it. A judge that never came as far as a record has none.
func (g *run) prove(j *receipt.Judge) error {
	path, err := record.Path(g.Root, j.Run)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	report, err := audit.Judge(f)
	if err != nil {
		return err
	}
	var found []string
	for _, finding := range report.Findings {
		found = append(found, finding.What)
	}
	if len(found) > 0 {
		j.Failed = "its record does not hold what a judge must: " + strings.Join(found, "; ")
	}
	verified, err := record.VerifyReader(f)
	if err != nil {
		return err
	}
	j.Head, j.Frames = verified.Head.String(), verified.Frames
	_, err = read(f, j)
	return err
}

// read sums the receipts of a judge's turns, and lists what its model was sent.
func read(src io.ReaderAt, j *receipt.Judge) (*seat.History, error) {
	history, err := seat.ReadHistoryOf(src, func(event string, context []byte) error {
		if event != gateway.EventRequest {
			return nil
		}
		var x gateway.Exchange
		if err := json.Unmarshal(context, &x); err != nil {
			return err
		}
		j.Sent = append(j.Sent, receipt.Sent{SHA256: x.RequestSHA256, Bytes: x.RequestBytes})
		return nil
	})
	if err != nil {
		return nil, err
	}
	j.Given, j.Enforced = append(j.Given, history.Given()...), history.Enforced()
	j.Adapter, j.ModelInput = history.Header.Attributes["adapter"], audit.InputNone
	for _, r := range history.Receipts() {
		j.Adapter, j.Program, j.Version, j.Model = r.Adapter, r.Program, r.Version, r.Model
		j.InProcess, j.ModelInput = r.InProcess, r.ModelInput
		j.Tools = append(j.Tools, r.Tools...)
		j.Usage, j.Estimated = plus(j.Usage, r.Usage), j.Estimated || r.Estimated
		if j.Started.IsZero() {
			j.Started = r.Started.UTC().Truncate(time.Millisecond)
		}
		j.Ended = r.Ended.UTC().Truncate(time.Millisecond)
		for _, s := range r.Stamps {
			if !slices.Contains(j.Stamps, s) {
				j.Stamps = append(j.Stamps, s)
			}
		}
	}
	if j.ModelInput == audit.InputNone {
		j.Model = "" // nobody was asked, whatever it is called
	}
	j.Family = gate.Family(cmp.Or(j.Provider, j.Adapter), j.Model)
	return history, nil
}
