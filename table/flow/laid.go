package flow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"conclave/engine"
	"conclave/table"
	"conclave/table/people"
)

// A response may also be laid into tmp/ by a hand while the cycle waits. It is
// the answer of a person who has left no other, and of an agent that gives none;
// otherwise it is set aside before the answer takes its place. What lay there
// before the signal answers no question.

// laid is a response in tmp/ that is not the engine's, or why it cannot be read.
func (c *cycle) laid(who string) (data []byte, fault string, err error) {
	name := table.ResponseFile(who)
	data, err = c.t.campaign.Tmp.Read(name, c.t.caps.Response)
	var tooBig *table.CapError
	var unsafe *table.UnsafeError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", nil
	case errors.As(err, &tooBig), errors.As(err, &unsafe):
		return nil, err.Error(), nil
	case err != nil || table.Hash(data) == c.known[name]:
		return nil, "", err
	}
	return data, "", nil
}

// clearLaid sets aside a response that was there before the question.
func (c *cycle) clearLaid(who string) error {
	data, fault, err := c.laid(who)
	if err != nil || data == nil && fault == "" {
		return err
	}
	_, err = c.t.campaign.SetAside(table.ResponseFile(who), c.stamp())
	return err
}

// draftLaid makes a response that a person laid into tmp/ their draft, if they
// have left none.
func (c *cycle) draftLaid(a *answer) error {
	if people.HasLeft(c.t.opts.Workspace, c.t.opts.Campaign, a.Character) {
		return nil
	}
	data, fault, err := c.laid(a.Character)
	if fault != "" {
		a.Remarks = append(a.Remarks, "what was laid into tmp/ was not taken: "+fault)
	}
	if err != nil || data == nil {
		return err
	}
	a.Laid = table.Hash(data)
	return people.Leave(c.t.opts.Workspace, c.t.opts.Campaign, a.Character, string(data))
}

// takeLaid takes a response from tmp/ in place of an answer that did not come.
func (c *cycle) takeLaid(a *answer, f frozen, reason string) (string, error) {
	data, fault, err := c.laid(f.Character)
	if fault != "" {
		a.Remarks = append(a.Remarks, "what was laid into tmp/ was not taken: "+fault)
	}
	if err != nil || data == nil {
		return reason, err
	}
	why, _ := c.judge(a, table.SplitTurn(string(data)), f)
	if why != "" {
		a.Remarks = append(a.Remarks, fmt.Sprintf("tmp/%s, laid there by hand, was not taken: %s",
			table.ResponseFile(f.Character), why))
		return why, nil
	}
	a.Laid = table.Hash(data)
	a.Remarks = append(a.Remarks, fmt.Sprintf("%s gave no answer (%s): tmp/%s, laid there by hand, was taken",
		f.Character, reason, table.ResponseFile(f.Character)))
	return "", nil
}

// cleared is what stands in the place of responses before they are written.
type cleared struct {
	Before  map[string]string `json:"before"` // by character
	Remarks []string          `json:"remarks,omitempty"`
}

// clearWay sets aside what a hand laid where the answers go, unless it is one of
// them.
func (c *cycle) clearWay(answers []answer, try int) (cleared, error) {
	return engine.Do(c.r, fmt.Sprintf("clear %d %d", c.turns, try), func(context.Context) (cleared, error) {
		out := cleared{Before: map[string]string{}}
		for _, a := range answers {
			name := table.ResponseFile(a.Character)
			data, fault, err := c.laid(a.Character)
			if err != nil {
				return out, engine.Halt(err)
			}
			if fault != "" || data != nil && table.Hash(data) != a.Laid && table.Hash(data) != table.Hash(a.File) {
				if _, err := c.t.campaign.SetAside(name, c.stamp()); err != nil {
					return out, engine.Halt(err)
				}
				out.Remarks = append(out.Remarks, fmt.Sprintf("tmp/%s was laid there by hand when %s had answered: set aside",
					name, a.Character))
			}
			out.Before[a.Character] = engine.Absent
			if now, err := c.t.campaign.Tmp.Read(name, 0); err == nil {
				out.Before[a.Character] = engine.Digest(now)
			}
		}
		return out, nil
	})
}
