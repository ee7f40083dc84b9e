package app

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"conclave/engine"
	"conclave/policy"
	"conclave/table/desk"
	tableflow "conclave/table/flow"
	"conclave/table/people"
	"conclave/table/relay"
)

// prompt asks a screen for free words whenever it may speak, until it leaves.
func (h *tableHub) prompt(ctx context.Context, s *tableScreen) {
	for {
		ends, waits := false, false
		if h.await(ctx, func() bool {
			ends, waits = s.left || h.over != nil, h.missing > 0 && !h.listening
			return ends || h.invited(s)
		}) != nil || ends {
			return
		}
		asking, stop := context.WithCancel(ctx)
		go func() {
			if h.await(asking, func() bool { return !h.invited(s) }) == nil {
				stop()
			}
		}()
		s.keys.Lock()
		who, words, err := s.speak(asking, waits)
		if err == nil {
			words, err = h.inVoice(asking, s, who, words)
		}
		s.keys.Unlock()
		withdrawn := asking.Err() != nil
		stop()
		switch {
		case err == nil:
			h.heard(s, who, words)
		case withdrawn && ctx.Err() == nil && !errors.Is(err, io.EOF) && !errors.Is(err, errGone):
		default:
			h.gone(s, err)
			return
		}
	}
}

// inVoice has free words put as their character would say them, where somebody
// lends it a voice, and asks whether it shall be so. Where the table goes on
// meanwhile they are said as they were typed.
func (h *tableHub) inVoice(ctx context.Context, s *tableScreen, who, words string) (string, error) {
	for words != "" && !strings.HasPrefix(words, "/") && h.listens() && h.table != nil {
		prose, remarks, err := h.table.Voiced(ctx, who, words)
		hint := relay.Hint
		switch {
		case ctx.Err() != nil, err == nil && prose == "":
			return words, nil
		case err != nil:
			prose, remarks, hint = "", []string{"No other words were found: " + err.Error()}, relay.OwnHint
		}
		lead := strings.TrimSpace(prose + "\n\n" + strings.Join(remarks, "\n"))
		text, err := s.asker.Ask(ctx, engine.Question{Lead: lead, Text: relay.Question, Hint: hint})
		switch text = strings.TrimSpace(text); {
		case err != nil && ctx.Err() != nil:
			return words, nil
		case err != nil:
			s.app.aside("%s", "This was not said: "+words)
			return "", err
		case text == "" && strings.HasPrefix(prose, "/"):
			return "/" + prose, nil // it is no command
		case text == "" && prose != "":
			return prose, nil
		case text == "", text == "/mine":
			return words, nil
		}
		words = text
	}
	return words, nil
}

// invited says whether a screen may speak now: when nothing is under way; while a
// game master who is a person thinks; while somebody is awaited.
func (h *tableHub) invited(s *tableScreen) bool {
	switch {
	case s.left || s.asked || len(s.said) >= mostSayings || h.leaving || h.over != nil || s.passing:
		return false
	case h.listening:
		return len(s.said) == 0 && h.at(string(policy.GM)) == nil
	case s.asker == nil || s.asker.person == nil || len(s.asker.answers) > 0:
		return false // what is written down is for when it is asked for
	}
	return h.thinking && !s.gmIsHere() || h.missing > 0
}

// mostSayings bounds what somebody says ahead.
const mostSayings = 100

// heard takes what somebody said of their own accord.
func (h *tableHub) heard(s *tableScreen, who, words string) {
	if leaves(words) {
		h.gone(s, nil)
		return
	}
	if who == string(policy.GM) { // their words are a turn
		if err := people.Leave(h.root, h.campaign, who, words); err != nil {
			s.app.note("%v", err)
		}
		return
	}
	if desk.Meanwhile(who, words) && !h.listens() {
		_, _ = h.command(h.life, s, saying{who, words}) // what it could not do is said there
		return
	}
	later := false
	h.change(func() {
		if later = !h.listening; !later || words != "" {
			s.said = append(s.said, saying{who, words})
		}
	})
	if later && words != "" {
		s.app.aside("%s", "That is kept: it is said when this round is over.")
	}
}

// listens says whether the table asks what is said next.
func (h *tableHub) listens() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.listening
}

// gone: nobody is at a screen any more.
func (h *tableHub) gone(s *tableScreen, err error) {
	if s != h.own {
		h.part(s)
		return
	}
	h.change(func() {
		if s.ended = err; err == nil || errors.Is(err, engine.ErrNobody) {
			s.ended = io.EOF
		}
		s.left = true
	})
	h.mu.Lock()
	listening := h.listening
	h.mu.Unlock()
	if !listening {
		h.leave()
	}
}

// listen is the table's Play.Listen: what is said next, and by whom. What others
// want done is done in between.
func (h *tableHub) listen(ctx context.Context) (who, words string, err error) {
	h.change(func() { h.listening, h.thinking = true, false })
	defer h.change(func() { h.listening = false })
	var s *tableScreen
	var job *tableJob
	var ended error
	err = h.await(ctx, func() bool {
		if len(h.jobs) > 0 {
			job = h.jobs[0]
			return true
		}
		i := slices.IndexFunc(h.screens, func(s *tableScreen) bool { return len(s.said) > 0 })
		if i >= 0 {
			s = h.screens[i]
		}
		if h.own.left {
			ended = h.own.ended
		}
		return i >= 0 || ended != nil || h.at(string(policy.GM)) != nil
	})
	switch {
	case err != nil:
		return "", "", err
	case job != nil:
		return "", "", h.work(job)
	case s != nil:
		return h.take(ctx, s)
	case ended != nil:
		return "", "", ended
	}
	return "", "", nil // a game master who is here is asked as the game master
}

// take takes what was said at a screen: words, or something to be done.
func (h *tableHub) take(ctx context.Context, s *tableScreen) (who, words string, err error) {
	var said saying
	there := false
	h.change(func() {
		if there = len(s.said) > 0; there {
			said, s.said, h.listening = s.said[0], s.said[1:], false
		}
	})
	if !there { // they have just left, and were told
		return "", "", tableflow.ErrAgain
	}
	if !strings.HasPrefix(said.words, "/") || strings.HasPrefix(said.words, "//") {
		return said.who, said.words, nil
	}
	stop, err := h.command(ctx, s, said)
	switch {
	case err != nil:
		return "", "", err
	case stop:
		return "", "", io.EOF
	}
	return "", "", tableflow.ErrAgain
}

// command does what a slash line says, and shows it where it was said.
func (h *tableHub) command(ctx context.Context, s *tableScreen, said saying) (stop bool, err error) {
	shown, stop, err := s.app.tableLine(ctx, h.table, said.who, said.words)
	if shown != "" && err == nil {
		s.app.show(Passage{"desk", shown})
	}
	if cut := (*engine.CutError)(nil); err == nil || ctx.Err() != nil || errors.As(err, &cut) {
		return stop, err
	}
	s.app.note("%v", err) // no reason to leave the table
	return false, nil
}

// work does a job while nothing else is under way.
func (h *tableHub) work(job *tableJob) error {
	h.change(func() { h.jobs, h.listening = h.jobs[1:], false })
	defer h.change(func() { h.listening = true })
	job.screen.app.wire.begun()
	err := job.do(h.table)
	job.done <- err
	return tableflow.ErrAgain // what it left open is gone on with
}
