package app

import (
	"encoding/json"
	"reflect"

	"conclave/internal/screen"
	"conclave/quest"
)

// EventData is an event for a face that is elsewhere: the name of its type, and
// what it holds as JSON, in lower case. Texts have no colours; whatever is foreign
// in them is still foreign.
func EventData(e Event) (name string, data json.RawMessage, err error) {
	data, err = json.Marshal(plain(e))
	return reflect.TypeOf(e).Name(), data, err
}

type plainText struct {
	Text string `json:"text"`
}

type plainSpeech struct {
	Emoji string `json:"emoji"`
	Name  string `json:"name"`
	Part  string `json:"part"` // spoken, paused, whole
	Text  string `json:"text"`
}

type plainFace struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Emoji string `json:"emoji"`
}

// plain is what an event holds. One that is not here has JSON tags of its own, or
// is a list.
func plain(e Event) any {
	switch e := e.(type) {
	case Warning:
		return plainly(e.Text)
	case Aside:
		return plainly(e.Text)
	case Note:
		return plainly(e.Text)
	case Remark:
		return plainly(e.Text)
	case Speech:
		return plainSpeech{e.Emoji, e.Name, [...]string{"spoken", "paused", "whole"}[e.Part], e.Text}
	case Offers:
		return struct {
			List []quest.Offer `json:"list"`
		}{e.List}
	case Passage:
		return struct {
			Kind string `json:"kind"`
			Text string `json:"text"`
		}{e.Kind, e.Text}
	case Progress:
		return struct {
			What  string `json:"what"`
			Done  int64  `json:"done"`
			Total int64  `json:"total"`
		}{e.What, e.Done, e.Total}
	case Standing:
		return struct {
			Title         string   `json:"title"`
			Phase         string   `json:"phase"`
			Log           []string `json:"log"`
			Conversations []string `json:"conversations"`
		}{e.Quest.Title, e.Quest.Phase.String(), e.Log, e.Conversations}
	case Cast:
		faces := make([]plainFace, len(e.Faces))
		for i, f := range e.Faces {
			faces[i] = plainFace{f.Archetype.ID, f.Name(), f.Emoji()}
		}
		return struct {
			Faces []plainFace `json:"faces"`
		}{faces}
	case Following:
		return struct {
			Roots []string `json:"roots"`
		}{e.Roots}
	case Audited:
		return struct {
			Reports []*AuditReport `json:"reports"`
		}{e.Reports}
	case Faults:
		return struct {
			Faults []Fault `json:"faults"`
		}{e}
	}
	return e
}

func plainly(t screen.Text) plainText { return plainText{t.String()} }

type plainOption struct {
	Label string `json:"label"`
	Hint  string `json:"hint,omitempty"`
}

// MarshalJSON is a question for a face that is elsewhere.
func (q Question) MarshalJSON() ([]byte, error) {
	options := make([]plainOption, len(q.Options))
	for i, o := range q.Options {
		options[i] = plainOption{o.Label, o.Hint}
	}
	return json.Marshal(struct {
		Way     string        `json:"way"` // freely, yesno, inline, enter
		Title   string        `json:"title,omitempty"`
		Lead    string        `json:"lead,omitempty"`
		Text    string        `json:"text"`
		Hint    string        `json:"hint,omitempty"`
		Who     string        `json:"who,omitempty"`
		Options []plainOption `json:"options"`
		Default string        `json:"default,omitempty"`
		Silent  bool          `json:"silent,omitempty"`
		Secret  bool          `json:"secret,omitempty"`
		Lines   bool          `json:"lines,omitempty"`
		Alone   []string      `json:"alone,omitempty"`
		Live    bool          `json:"live,omitempty"`
		Again   bool          `json:"again,omitempty"`
	}{
		[...]string{"freely", "yesno", "inline", "enter"}[q.Way], q.Title, q.Lead, q.Text, q.Hint, q.Who, options,
		q.Default, q.Silent, q.Secret, q.Lines, q.Alone, q.Live, q.Again,
	})
}
