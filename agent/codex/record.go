package codex

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"conclave/agent"
	"conclave/transcript"
)

// record keeps a line, maps it and records what it means. An error is the end
// of the session: what cannot be recorded does not happen.
func (s *session) record(channel string, line []byte, mapLine func([]byte) []transcript.Item) error {
	s.rec.Lock()
	defer s.rec.Unlock()
	if s.spec.Blobs != nil {
		if err := s.spec.Blobs.AppendBlob(channel, append(line[:len(line):len(line)], '\n')); err != nil {
			return s.fail(fmt.Errorf("record what codex and we said: %w", err))
		}
	}
	err := s.emit(mapLine(line))
	if s.settle != nil {
		s.settle.Stop()
	}
	if err == nil && s.maps.Holding() {
		s.settle = time.AfterFunc(settleTime, s.settled)
	}
	return err
}

// settleTime is how long a finished message may wait for a word on whether the
// stream that it came by broke. Such a word follows at once; the model's next
// may take minutes.
const settleTime = 2 * time.Second

// settled records a message that was held back.
func (s *session) settled() {
	s.rec.Lock()
	defer s.rec.Unlock()
	_ = s.emit(s.maps.Settle()) // an error is kept by fail
}

// emit is called with rec held.
func (s *session) emit(items []transcript.Item) error {
	if !s.begun {
		s.early = append(s.early, items...)
		return nil
	}
	for _, item := range items {
		entry, err := s.spec.Emitter.Emit(item)
		if err != nil {
			return s.fail(err)
		}
		s.mu.Lock()
		t := s.turn
		s.mu.Unlock()
		var used transcript.Usage
		if entry.Type == transcript.TokenUsage {
			used = s.spend(entry.Detail)
		}
		if t != nil && !t.ended() {
			t.entry(entry, used)
			continue
		}
		// A child that outlives the turn: the next one bears its cost.
		s.mu.Lock()
		s.carry = s.carry.Add(used)
		s.mu.Unlock()
	}
	return nil
}

// spend reads the usage of a response and puts it on the session's account.
func (s *session) spend(detail []byte) transcript.Usage {
	used := transcript.UsageOf(detail)
	p, _ := s.opts.Prices.Of(s.spec.Model.Name) // without one the cost is not known
	used.CostUSD = p.Cost(used)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent += used.CostUSD
	return used
}

// broke says whether the budget is used up.
func (s *session) broke() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spec.Limits.BudgetUSD > 0 && s.spent >= s.spec.Limits.BudgetUSD
}

// begin records what happened before the first message.
func (s *session) begin() error {
	s.rec.Lock()
	defer s.rec.Unlock()
	s.begun = true
	early := s.early
	s.early = nil
	return s.emit(early)
}

// close completes the record.
func (s *session) close() error {
	s.mu.Lock()
	broken := s.err != nil && !errors.Is(s.err, agent.ErrStopped)
	s.mu.Unlock()
	if broken {
		return nil // whoever sent the message was told
	}
	if err := s.begin(); err != nil {
		return err
	}
	return s.keepRollout()
}

// keepRollout keeps the program's own account: calls of tools that do not
// exist and the scripts of its code mode are nowhere else.
func (s *session) keepRollout() error {
	s.mu.Lock()
	path := s.path
	s.mu.Unlock()
	inside, ok := strings.CutPrefix(filepath.ToSlash(path), s.spec.Place.InGuest()+"/")
	if s.spec.Blobs == nil || !ok || !filepath.IsLocal(filepath.FromSlash(inside)) {
		return nil
	}
	data, err := os.ReadFile(s.spec.Place.OnHost(filepath.FromSlash(inside)))
	if os.IsNotExist(err) {
		return nil // none is written for a session that was not used
	}
	if err == nil {
		err = s.spec.Blobs.AppendBlob("codex.rollout", data)
	}
	if err != nil {
		return fmt.Errorf("keep codex rollout: %w", err)
	}
	return nil
}
