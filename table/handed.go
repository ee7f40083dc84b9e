package table

import (
	"fmt"
	"strings"
)

// HandIn is a file that an agent handed in with its turn. One that could not be
// read has a fault in place of its text.
type HandIn struct {
	Name  string `json:"name"` // as the agent called it
	Text  string `json:"text,omitempty"`
	Fault string `json:"fault,omitempty"`
}

// In is the path in the campaign that the file is meant for: agents name files
// as the seed does, from the workspace, from the campaign or from tmp/. It is
// compared with names of the roster and never opened.
func (h HandIn) In(campaign string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(h.Name, "./"), "campaigns/"+campaign+"/")
	if !strings.Contains(name, "/") && Classify("tmp/"+name).Kind != KindUnknown {
		return "tmp/" + name
	}
	return name
}

// PlayerTurn is what a player's turn says, in words and in files. A player
// writes two files, its own response and its own notes; the response file is its
// answer, whatever it says beside it. Every other file is named in remarks and
// not taken.
func PlayerTurn(campaign, character, said string, files []HandIn) (t Turn, remarks []string) {
	t = SplitTurn(said)
	for _, f := range files {
		name := f.In(campaign)
		own := name == "tmp/"+ResponseFile(character) || name == "tmp/"+NotesFile(character)
		switch {
		case !own:
			remarks = append(remarks, fmt.Sprintf("%s wrote %s, which is not its to write: it was not taken",
				character, Clip(f.Name, 80)))
		case f.Fault != "":
			remarks = append(remarks, fmt.Sprintf("%s of %s was not taken: %s", name, character, f.Fault))
		case name == "tmp/"+NotesFile(character):
			t.Notes = strings.TrimSpace(t.Notes + "\n\n" + f.Text)
		default:
			written := SplitTurn(f.Text)
			t.Notes = strings.TrimSpace(written.Notes + "\n\n" + t.Notes)
			if written.Response == "" {
				continue
			}
			if beside := t.Response; beside != "" && beside != written.Response {
				remarks = append(remarks, fmt.Sprintf("%d characters that %s said beside its response file were told to nobody",
					len(beside), character))
			}
			t.Response = written.Response
		}
	}
	return t, remarks
}
