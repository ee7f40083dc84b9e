package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"conclave/transcript"
)

// Heard implements rpc.Driver.
func (s *session) Heard(line []byte) []transcript.Item { return s.held(s.maps.Server(line)) }

// Said implements rpc.Driver.
func (s *session) Said(line []byte) []transcript.Item { return s.held(s.maps.Client(line)) }

// Rest implements rpc.Driver.
func (s *session) Rest() []transcript.Item { return s.maps.Flush() }

// settleTime is how long a finished message may wait for a word on whether the
// stream that it came by broke. Such a word follows at once; the model's next
// may take minutes.
const settleTime = 2 * time.Second

// held sees to it that a message which a line leaves held back is recorded in
// time.
func (s *session) held(items []transcript.Item) []transcript.Item {
	if s.settle != nil {
		s.settle.Stop()
	}
	if s.maps.Holding() {
		s.settle = time.AfterFunc(settleTime, func() { s.conn.Late(s.maps.Settle) })
	}
	return items
}

// Entry implements rpc.Driver.
func (s *session) Entry(e transcript.Entry) {
	var used transcript.Usage
	if e.Type == transcript.TokenUsage {
		used = s.spend(e.Detail)
	}
	if t := s.current(); t != nil && !t.Over() {
		t.entry(e, used)
		return
	}
	// A child that outlives the turn: the next one bears its cost.
	s.mu.Lock()
	s.carry = s.carry.Add(used)
	s.mu.Unlock()
}

// current is the last turn that was begun.
func (s *session) current() *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn
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
