package seat

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/agent"
	"conclave/audit"
	"conclave/forwarder"
	"conclave/gateway"
	"conclave/record"
	"conclave/room"
	"conclave/toolbox"
	"conclave/transcript"
)

// Seat is an agent at work. It is not safe for concurrent use.
type Seat struct {
	plan       Plan
	history    *History
	writer     *record.Writer
	emitter    *transcript.Emitter
	roomOrDesk roomOrDesk
	room       *room.Room // where a program runs, or
	desk       *room.Desk // where somebody in this process sits
	gateway    *gateway.Gateway
	forwarder  *forwarder.Forwarder // in place of a gateway, for a login
	lent       *gateway.Secrets     // that must not be repeated; nil for none
	told       int64                // tokens that an agent with a login has told
	toolbox    *toolbox.Toolbox
	session    agent.Session
	canary     string // path of the file that holds it
	closed     bool
	seal       record.Seal
	counted    map[string]transcript.Usage // by model, of turns before; see count
}

// roomOrDesk is what a room and a desk have in common.
type roomOrDesk interface {
	Manifest() room.Manifest
	TakeOutbox() ([]room.File, []room.LeftOut, error)
	Close() error
}

// Open opens a seat: the record first, then the room. The agent is started by
// the first turn that needs it.
func Open(ctx context.Context, p Plan) (*Seat, error) {
	if p.Agent == nil || p.Run == "" || p.Role == "" || p.PromptName == "" {
		return nil, errors.New("open a seat: it needs a run, a role, a prompt name and an agent")
	}
	s := &Seat{plan: p}
	if p.Login != nil {
		if p.InProcess || p.Upstream != nil {
			return nil, errors.New("open a seat: a login is lent to a program in a room that has no other way to its model")
		}
		if s.lent = gateway.NewSecrets(p.Login.Secrets...); s.lent == nil {
			return nil, errors.New("open a seat: the login could not be recognised where it is repeated")
		}
	}
	if err := s.openRecord(); err != nil {
		return nil, err
	}
	if s.history.Sealed() {
		return s, nil // the run is over: what it said can be read
	}
	for _, r := range s.history.Receipts() {
		s.told += Told(transcript.Usage(r.Usage)).Tokens
	}
	if err := s.openRoom(ctx); err != nil {
		return nil, errors.Join(err, s.abandon())
	}
	return s, nil
}

// openRecord creates the record of the run, or continues it.
func (s *Seat) openRecord() error {
	path, err := record.Path(s.plan.Workspace, s.plan.Run)
	if err != nil {
		return err
	}
	s.writer, s.history, err = resume(path)
	if errors.Is(err, fs.ErrNotExist) {
		attributes := map[string]string{
			"role": s.plan.Role, "prompt_name": s.plan.PromptName, "adapter": s.plan.Agent.Adapter(),
		}
		maps.Copy(attributes, s.plan.Attributes)
		header := record.Header{Run: s.plan.Run, Program: s.plan.Program, Attributes: attributes}
		s.history = &History{Header: header}
		s.writer, err = record.Create(path, header)
	}
	if err != nil || s.history.Sealed() {
		return err
	}
	if err := s.emitAs(s.plan.PromptName, s.plan.Agent.Adapter()); err != nil {
		return err
	}
	if s.history.summary == nil {
		return s.emitter.Start()
	}
	return nil
}

// reopen continues the record of a run without a room: what it says can be
// added to, and it can be ended.
func reopen(workspace, run string) (*Seat, error) {
	path, err := record.Path(workspace, run)
	if err != nil {
		return nil, err
	}
	s := &Seat{plan: Plan{Workspace: workspace, Run: run}}
	s.writer, s.history, err = resume(path)
	if err != nil || s.history.Sealed() {
		return s, err
	}
	by := s.history.Header.Attributes
	return s, s.emitAs(by["prompt_name"], by["adapter"])
}

func (s *Seat) emitAs(promptName, adapter string) (err error) {
	s.emitter, err = transcript.NewEmitter(transcript.Options{
		PromptName: promptName, Adapter: adapter,
		Store: s.writer, Continue: s.history.summary,
		Stream: s.plan.Stream, StreamQuiet: s.plan.StreamQuiet, StreamNoRaw: s.plan.StreamNoRaw, Clean: s.cleaner(),
	})
	if err != nil {
		return errors.Join(err, s.writer.Close())
	}
	return nil
}

// openRoom opens toolbox, gateway and room, and puts on the record what is in
// it and what is kept from it.
func (s *Seat) openRoom(ctx context.Context) error {
	token := rand.Text()
	var err error
	s.toolbox, err = toolbox.New(toolbox.Options{Tools: s.plan.Tools, Token: token, Events: toolEvents{s}})
	if err != nil {
		return err
	}
	if s.plan.Upstream != nil {
		if err := s.openGateway(token); err != nil {
			return err
		}
	}
	plan := s.plan.Room
	plan.Role = s.plan.Role
	if s.plan.InProcess { // nothing is started: there is nothing to lock
		if s.desk, err = room.OpenDesk(ctx, plan); err != nil {
			return err
		}
		s.roomOrDesk = s.desk
		return s.recordRoom()
	}
	if s.gateway != nil {
		plan.Gateway = s.gateway.ServeConn
	}
	if s.plan.Login != nil {
		if err := s.openForwarder(token); err != nil {
			return err
		}
		plan.Gateway, plan.Forwards = s.forwarder.ServeConn, s.forwarder.Hosts()
	}
	if s.room, err = room.Open(ctx, plan); err != nil {
		return err
	}
	s.roomOrDesk = s.room
	s.admitWeakness()
	return s.recordRoom()
}

// admitWeakness puts on every receipt that the room is weaker than its role
// requires, and tells the person where that was not their own word.
func (s *Seat) admitWeakness() {
	weaker := s.room.Weaker()
	if weaker == "" {
		return
	}
	s.plan.Stamps = append(slices.Clone(s.plan.Stamps), weaker)
	if s.plan.Tell != nil && (s.room.Enforcement().Fallback != "" || s.plan.Login != nil) {
		s.plan.Tell(s.plan.Role + ": " + weaker)
	}
}

// Weaker says why the seat's room is weaker than its role requires, empty when
// it is not.
func (s *Seat) Weaker() string {
	if s.room == nil {
		return ""
	}
	return s.room.Weaker()
}

func (s *Seat) openGateway(token string) error {
	models := s.plan.Models
	if len(models) == 0 {
		models = []string{"*"} // the program's own choice
		if s.plan.Model != "" {
			models = []string{s.plan.Model}
		}
	}
	var err error
	s.gateway, err = gateway.New(gateway.Options{
		Upstream: *s.plan.Upstream, Token: token, Models: models, Budget: s.plan.Budget,
		Account: s.plan.Account, Prices: s.plan.Prices, Answered: s.history.answered,
		Tools: s.toolbox, Blobs: s.writer, Events: payments{s},
	})
	return err
}

// payments puts what the gateway tells on the record. What is asked and answered
// costs: it is not held in this process's memory, to be lost with it.
type payments struct{ s *Seat }

func (p payments) Event(level slog.Level, event, message string, context any) error {
	if err := p.s.emitter.Event(level, event, message, context); err != nil {
		return err
	}
	return p.s.writer.Flush()
}

// recordRoom puts the manifest and the fingerprints on the record, before
// anybody is in the room.
func (s *Seat) recordRoom() error {
	m := s.roomOrDesk.Manifest()
	given, err := s.given(m)
	if err != nil {
		return err
	}
	opened, prints := fingerprint(s.plan, given)
	if err := recast(m.Items, &opened.Given); err != nil {
		return err
	}
	if err := recast(m.LeftOut, &opened.LeftOut); err != nil {
		return err
	}
	if !s.plan.InProcess { // who reads through the room's fs.FS has no way to one
		canary, err := s.plantCanary()
		if err != nil {
			return err
		}
		opened.Canaries = []string{canary}
	}
	if err := s.emitter.Event(slog.LevelInfo, audit.EventRoom, "room opened", opened); err != nil {
		return err
	}
	for _, p := range prints {
		if err := s.writer.AppendBlob(audit.FingerprintChannel, p); err != nil {
			return err
		}
	}
	return nil // durable with the first message, before anybody is in the room
}

// given reads what was copied into the room. A mounted view is not read: only
// roles that are denied little have one.
func (s *Seat) given(m room.Manifest) ([][]byte, error) {
	if len(s.plan.Denied) == 0 {
		return nil, nil // there is nothing to tell apart from it
	}
	var texts [][]byte
	for _, item := range m.Items {
		if item.Mounted {
			continue
		}
		text, err := s.read(item.Path)
		if err != nil {
			return nil, fmt.Errorf("read what %s is given: %w", s.plan.Role, err)
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// read reads a file of the manifest.
func (s *Seat) read(name string) ([]byte, error) {
	if s.desk != nil {
		return fs.ReadFile(s.desk.Files(), strings.TrimPrefix(name, agent.WorkDir+"/"))
	}
	return os.ReadFile(s.room.Place().OnHost(filepath.FromSlash(name)))
}

// plantCanary puts a word where no agent may look, for as long as the seat is
// open.
func (s *Seat) plantCanary() (string, error) {
	word := "canary-" + rand.Text()
	dir := filepath.Join(s.plan.Workspace, ".conclave", "canaries")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	s.canary = filepath.Join(dir, s.plan.Run)
	return word, os.WriteFile(s.canary, []byte(word+"\n"), 0o600)
}

// Enforcement says what was shown of the room when a program last started.
func (s *Seat) Enforcement() room.Enforcement {
	if s.room == nil {
		return room.Enforcement{}
	}
	return s.room.Enforcement()
}

// Note puts something on the run's record that is no turn. It is durable with
// the next turn's message.
func (s *Seat) Note(event, message string, context any) error {
	if s.history.Sealed() {
		return record.ErrSealed
	}
	return s.note(event, message, context)
}

// Event is Note, and what it puts there is durable when it returns.
func (s *Seat) Event(event, message string, context any) error {
	if err := s.Note(event, message, context); err != nil {
		return err
	}
	return s.writer.Commit()
}

// Close ends the run: it stops the agent, seals the record with a reason and
// removes the room. Further calls return the same seal.
func (s *Seat) Close(ctx context.Context, reason string) (record.Seal, error) {
	if s.history.Sealed() {
		return *s.history.seal, nil
	}
	if s.closed {
		return s.seal, nil
	}
	s.closed = true
	err := errors.Join(s.closeRoom(ctx), s.emitter.Stop())
	seal, sealErr := s.writer.Seal(reason)
	s.seal = seal
	return seal, errors.Join(err, sealErr, s.writer.Close())
}

// Leave ends the seat without ending the run: opening it again continues.
func (s *Seat) Leave(ctx context.Context) error {
	if s.history.Sealed() || s.closed {
		return nil
	}
	s.closed = true
	err := s.closeRoom(ctx)
	if s.emitter != nil { // emission has stopped, though the run may go on
		err = errors.Join(err, s.emitter.Pause())
	}
	return errors.Join(err, s.writer.Close())
}

func (s *Seat) abandon() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return s.Leave(ctx)
}

// closeRoom stops the agent and removes the room.
func (s *Seat) closeRoom(ctx context.Context) error {
	var errs []error
	if s.session != nil {
		errs = append(errs, s.session.Stop(ctx))
	}
	if s.gateway != nil {
		errs = append(errs, s.gateway.Close())
	}
	if s.forwarder != nil {
		errs = append(errs, s.forwarder.Close())
	}
	if s.roomOrDesk != nil {
		errs = append(errs, s.roomOrDesk.Close())
	}
	if s.canary != "" {
		if err := os.Remove(s.canary); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("leave the room of %s: %w", s.plan.Role, err)
	}
	return nil
}
