package gateway

import (
	"net/http"
	"slices"
	"strings"
)

// Kind is the API that an upstream speaks.
type Kind string

// The kinds of upstream.
const (
	Anthropic Kind = "anthropic" // Messages
	OpenAI    Kind = "openai"    // Responses
	Chat      Kind = "chat"      // Chat Completions, of OpenAI and of all who speak it
	Gemini    Kind = "gemini"    // generateContent
)

// Kinds are all of them: whoever lists, checks or tries kinds asks here.
func Kinds() []Kind {
	var out []Kind
	for _, a := range apis {
		out = append(out, a.kind)
	}
	return out
}

// api is all that the gateway knows of one kind. Whatever differs between
// kinds stands here, and nowhere else is a kind asked for by name.
type api struct {
	kind    Kind
	version string // what its paths begin with, in a room
	// base is the path of an upstream up to what follows the version in a room,
	// from the path of its base URL.
	base func(path string) string
	// under is what else its paths begin with, for refusals in its words.
	under []string
	// asks says what a path below the version asks of a model.
	asks func(path string) (asked, bool)

	// key adds the key to a request.
	key func(h http.Header, key string)
	// list completes a request for the list of models; nil: it is complete.
	list func(r *http.Request)
	// refuse is the body of a refusal in its words.
	refuse func(no *refusal) any
	// cut is the event by which a stream ends that is cut.
	cut func(no *refusal) (name string, data any)

	// spelt says whether a key of a request is written as this API writes keys,
	// and same makes one of all spellings that it may take for one key.
	spelt func(name string) bool
	same  func(name string) string
	// lenient: several spellings of a key are in use.
	lenient bool
	// inner is a member that holds a whole request.
	inner string
	// elsewhere are members of a request that stand for something which the
	// provider keeps or reaches. Where members are listed, all others are taken
	// for such, but for numbers.
	elsewhere, members []string
	// own are members that hold no messages: names and numbers, schemas, and the
	// tools, which are judged by themselves.
	own []string
	// tool judges one of the tools.
	tool func(a *api, tool map[string][]byte, depth int) error
	// within says what the members of a message's parts are.
	within map[string]role

	// event reads one event of a stream, and says whether it is one of the API's;
	// whole reads an answer that does not stream.
	event func(m *meter, data []byte) bool
	whole func(m *meter, body []byte)
}

var apis = []*api{messagesAPI, responsesAPI, chatAPI, geminiAPI}

func apiOf(kind Kind) (*api, bool) {
	i := slices.IndexFunc(apis, func(a *api) bool { return a.kind == kind })
	if i < 0 {
		return nil, false
	}
	return apis[i], true
}

// asked is what a path asks of a model.
type asked struct {
	paid  bool
	model string // where the path names it
}

// paths takes those that are named, and says whether they cost.
func paths(costs map[string]bool) func(string) (asked, bool) {
	return func(path string) (asked, bool) {
		paid, ok := costs[path]
		return asked{paid: paid}, ok
	}
}

// versioned is a base URL with or without the version.
func versioned(version string) func(string) string {
	return func(path string) string { return strings.TrimSuffix(path, version) + version }
}

func bearerKey(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

// role is what a member of a message's part means to the rules.
type role int

const (
	content role = iota // it is looked into
	kindOf              // it says what the part is
	toolList
	address // it may only say where something was found
	fetched // it is fetched wherever it stands, if it is an address
	kept    // the provider keeps it
	apart   // it is the tool's own, or a schema
	fileOf  // a file: its bytes, or an address
)

// snakeKey is how three of the APIs write their keys. Another spelling is none
// of theirs, or one that a lenient reader takes for theirs.
func snakeKey(name string) bool {
	odd := func(c rune) bool { return !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_') }
	return name != "" && strings.IndexFunc(name, odd) < 0
}

// modelName says whether a name can stand in a path.
func modelName(name string) bool {
	if strings.Trim(name, ".") == "" {
		return false
	}
	return strings.IndexFunc(name, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("._:-", c))
	}) < 0
}
