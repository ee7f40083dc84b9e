package offline

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"conclave/internal/pattern"
	"conclave/transcript"
)

// The tools of the party that the embedded one uses, where the engine has told
// of them.
const (
	toolProgress  = "log_progress"
	toolRecommend = "recommend"
)

// toldOf says whether the engine spoke of a tool in this conversation.
func (t *turn) toldOf(tool string) bool {
	return strings.Contains(t.text, tool) ||
		slices.ContainsFunc(t.before, func(x exchange) bool { return strings.Contains(x.told, tool) })
}

// note plans a call of a tool that takes one line of text. What the room
// refuses is on the record, and nothing is said of it.
func (t *turn) note(tool, text string) {
	caller := t.spec.Tools.Caller
	if text == "" || caller == nil || !t.toldOf(tool) {
		return
	}
	t.Then(func() error {
		input, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			return err
		}
		t.calls++
		id := "call-" + strconv.Itoa(t.calls)
		use := map[string]any{"tool_use_id": id, "name": tool, "input": json.RawMessage(input)}
		if err := t.Emit(transcript.ToolUse, use, nil); err != nil {
			return err
		}
		t.Called(tool)
		content, failure := caller.CallTool(t.Context(), tool, input)
		if err := t.Alive(); err != nil {
			return err
		}
		detail := map[string]any{"tool_use_id": id, "content": content}
		if failure != nil {
			detail["content"], detail["is_error"] = failure.Error(), true
		}
		return t.Emit(transcript.ToolResult, detail, nil)
	})
}

// hearProgress notes what the person says is finished, in their own words.
func (t *turn) hearProgress() {
	for _, s := range finishedIn(ownWords(t.text)) {
		t.note(toolProgress, s)
	}
}

var (
	finishedBy = pattern.New(`(?i)^(?:and\s+|so,?\s+|ok,?\s+|okay,?\s+|today,?\s+|yesterday,?\s+)?` +
		`(?:i|we)(?:['’]ve|\s+have)?(?:\s+(?:just|now|finally|already))?\s+` +
		`(?:finished|completed|merged|shipped|released|published|delivered)\s+\pL`)
	finishedIs = pattern.New(`(?i)^[^,;:]{3,80}?\s+(?:is|are|['’]s)(?:\s+(?:now|finally|all))?\s+` +
		`(?:done|finished|completed|merged|shipped|released|published)$`)
	// uncertain words make it a wish, a doubt or a condition.
	uncertain = pattern.New(`(?i)\b(?:not|never|no|nobody|nothing|none|when|if|once|until|unless|before|after|almost|nearly|` +
		`half|partly|should|would|could|will|may|might|must|want|hope|think|whether|who|what|which|how|why|where|as soon|` +
		`far from|yet|say|says|said)\b|n['’]t\b|\?`)
	sentenceEnd = pattern.New(`[.!]+(?:\s+|$)|\?\s*`)
)

// maxSaid is how long a message may be to be taken for somebody's own report: a
// longer one is a paste.
const maxSaid = 1000

// finishedIn finds the sentences by which a person reports that something is
// finished. It takes plain statements alone: what is asked, wished, doubted,
// conditional or quoted is none.
func finishedIn(words string) (out []string) {
	if len(words) > maxSaid || strings.Contains(words, "```") {
		return nil
	}
	for line := range strings.Lines(words) {
		line = strings.TrimSpace(line)
		if line == "" || strings.ContainsAny(line[:1], ">|#+-*`\"") || strings.ContainsAny(line, "“”") {
			continue
		}
		for _, at := range statements(line) {
			plain := strings.TrimRight(at, ".! ")
			if len(plain) > 160 || uncertain.MatchString(at) {
				continue
			}
			if finishedBy.MatchString(plain) || finishedIs.MatchString(plain) {
				out = append(out, plain)
			}
		}
	}
	return out[:min(len(out), 3)]
}

// statements splits a line into sentences, and leaves each its mark.
func statements(line string) (out []string) {
	for line != "" {
		at := sentenceEnd.FindStringIndex(line)
		if at == nil {
			return append(out, line)
		}
		out, line = append(out, strings.TrimSpace(line[:at[1]])), line[at[1]:]
	}
	return out
}
