package gate

import (
	"regexp"
	"slices"
	"strings"
)

// lines are the lines of models that are known, each with its vendor. A name that
// holds one of these words is of that line, whoever serves it.
var lines = []struct {
	word   *regexp.Regexp
	family string
}{
	{line("claude"), "anthropic claude"},
	{line("gpt", "chatgpt", "codex", "o1", "o3", "o4", "davinci"), "openai gpt"},
	{line("gemini"), "google gemini"},
	{line("gemma"), "google gemma"},
	{line("deepseek"), "deepseek deepseek"},
	{line("qwen", "qwq", "qvq"), "alibaba qwen"},
	{line("mistral", "mixtral", "codestral", "devstral", "magistral", "ministral", "pixtral"), "mistral mistral"},
	{line("llama", "codellama", "nemotron"), "meta llama"},
	{line("grok"), "xai grok"},
	{line("kimi", "moonshot"), "moonshot kimi"},
	{line("glm", "chatglm"), "zhipu glm"},
	{line("command", "aya"), "cohere command"},
	{line("phi"), "microsoft phi"},
	{line("nova", "titan"), "amazon nova"},
	{line("granite"), "ibm granite"},
	{line("minimax"), "minimax minimax"},
}

// line matches words that begin a part of a name, up to a number: qwen2.5, not
// graphite.
func line(words ...string) *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^a-z0-9])(?:` + strings.Join(words, "|") + `)(?:$|[^a-z])`)
}

// word is what a name begins with, without what tells versions apart.
var word = regexp.MustCompile(`[a-z]+`)

// Family is the vendor and the line of a model, without version and size, from
// the kind of its provider and its name as the receipt has them. A judge without
// a model, such as the embedded one, is a family of its own kind. It is empty
// where nothing is known. A name that two lines are in, as one has that was
// distilled from the other, is of both, and so shares a family with each.
func Family(provider, model string) string {
	provider, model = strings.ToLower(strings.TrimSpace(provider)), strings.ToLower(strings.TrimSpace(model))
	if model == "" {
		return provider
	}
	var found []string
	for _, l := range lines {
		if l.word.MatchString(model) {
			found = append(found, l.family)
		}
	}
	if len(found) > 0 {
		return strings.Join(found, " and ")
	}
	name := model[strings.LastIndexByte(model, '/')+1:]
	return strings.TrimSpace(provider + " " + word.FindString(name))
}

// Independent says whether judges of these families may be called independent:
// there are several, each has a family, and no two share one.
func Independent(judges int, families []string) bool {
	if judges < 2 || len(families) != judges {
		return false
	}
	seen := map[string]bool{}
	for _, f := range families {
		for one := range strings.SplitSeq(f, " and ") {
			if one == "" || seen[one] {
				return false
			}
			seen[one] = true
		}
	}
	return true
}

// distinct are the families, each once.
func distinct(families []string) []string {
	out := slices.DeleteFunc(slices.Clone(families), func(f string) bool { return f == "" })
	slices.Sort(out)
	if out = slices.Compact(out); out == nil {
		out = []string{}
	}
	return out
}
