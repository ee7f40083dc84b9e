// Package means is what a person has here that could answer for a role, and what
// their configuration says to use it: a key in the environment, by the name of
// its variable; a program that such a key lets work; a server of models on this
// machine.
//
// Servers are looked for where the known programs listen unless they are told
// otherwise, on loopback alone and without a key; whoever answers there with a
// list of models is one. Nothing is started, nothing is written, nothing leaves
// this machine, and no key is looked at: that its variable is set is all. A login
// is no means: a person who wants that says so themselves.
package means

import (
	"cmp"
	"context"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/config"
	"conclave/gateway"
)

// Means is one way to have a role answered by a model.
type Means struct {
	// Name is what a person calls it by: ollama, claude, openrouter.
	Name string `json:"name"`
	// What says what it is, in words.
	What  string `json:"what"`
	Agent string `json:"agent"` // as the configuration names it
	// ProviderName and Provider are what the configuration has to say about where
	// the model is found; a provider that is always known is only named.
	ProviderName string          `json:"provider"`
	Provider     config.Provider `json:"-"`
	// Models are those that it offers, as far as that is known; the first is
	// proposed.
	Models []string `json:"models,omitempty"`
	// Local says that its server is on this machine; whether that asks another is
	// not known here.
	Local bool `json:"local"`
	// Lines are what a person's own file says to have every role answered by it,
	// with the model that is proposed; none where that is not known.
	Lines []string `json:"lines,omitempty"`
}

// Upstream is where its models are found.
func (m Means) Upstream(getenv func(string) string) gateway.Upstream {
	key := ""
	if !m.Provider.Keyless() {
		key = getenv(m.Provider.KeyEnv)
	}
	return *m.Provider.Upstream(key)
}

// Configure gives the lines for a model.
func (m Means) Configure(model string) []string {
	a := config.Agent{Agent: m.Agent, Provider: m.ProviderName, Model: model}
	own := map[string]config.Provider{}
	if _, ok := config.Merge(config.Config{}, config.Config{}).Providers[m.ProviderName]; !ok {
		own[m.ProviderName] = m.Provider
	}
	return config.Lines("default", a, own)
}

// provider is a public server of models: facts that its own pages state.
type provider struct {
	name, title string
	config.Provider
	model   string // one that is proposed where nobody was asked for a list
	program string // that speaks to it by itself
	called  string // that program's title
}

var providers = []provider{
	{"anthropic", "Anthropic", known("anthropic"), "claude-sonnet-5-5", "claude", "Claude Code"},
	{"openai", "OpenAI", known("openai"), "gpt-6.1-sol", "codex", "Codex"},
	{"gemini", "Google's Gemini", known("gemini"), "gemini-2.5-flash", "", ""},
	{"openrouter", "OpenRouter", chat("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"), "", "", ""},
	{"mistral", "Mistral", chat("https://api.mistral.ai/v1", "MISTRAL_API_KEY"), "", "", ""},
	{"groq", "Groq", chat("https://api.groq.com/openai/v1", "GROQ_API_KEY"), "", "", ""},
	{"deepseek", "DeepSeek", chat("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"), "", "", ""},
	{"xai", "xAI", chat("https://api.x.ai/v1", "XAI_API_KEY"), "", "", ""},
}

// known is a provider that every configuration has.
func known(name string) config.Provider {
	return config.Merge(config.Config{}, config.Config{}).Providers[name]
}

func chat(base, key string) config.Provider {
	return config.Provider{Kind: string(gateway.Chat), BaseURL: base, KeyEnv: key}
}

// Keys are the means by a key that is set, with a program that has(NAME) finds,
// and without.
func Keys(getenv func(string) string, has func(program string) bool) []Means {
	var programs, models []Means
	for _, p := range providers {
		if getenv(p.KeyEnv) == "" {
			continue
		}
		var offers []string
		if p.model != "" {
			offers = []string{p.model}
		}
		if p.program != "" && has(p.program) {
			programs = append(programs, Means{Name: p.program, What: p.called + " with " + p.KeyEnv,
				Agent: p.program, ProviderName: p.name, Provider: p.Provider, Models: offers})
		}
		models = append(models, Means{Name: p.name, What: "models of " + p.title + " with " + p.KeyEnv,
			Agent: "model", ProviderName: p.name, Provider: p.Provider, Models: offers})
	}
	return propose(append(programs, models...))
}

// propose gives the lines of those whose models are known.
func propose(list []Means) []Means {
	for i, m := range list {
		if len(m.Models) > 0 {
			list[i].Lines = m.Configure(m.Models[0])
		}
	}
	return list
}

// Variables are the names of those that may hold a key, and whether each does.
func Variables(getenv func(string) string) (set, unset []string) {
	for _, p := range providers {
		if getenv(p.KeyEnv) != "" {
			set = append(set, p.KeyEnv)
		} else {
			unset = append(unset, p.KeyEnv)
		}
	}
	return set, unset
}

// server is a program for models of this machine, and where it listens.
type server struct{ name, title, address string }

var servers = []server{
	{"ollama", "Ollama", "127.0.0.1:11434"},
	{"lmstudio", "LM Studio", "127.0.0.1:1234"},
	{"llamacpp", "llama.cpp", "127.0.0.1:8080"},
	{"vllm", "vLLM", "127.0.0.1:8000"},
}

// patience is how long a server of this machine may take to say what it has.
const patience = 2 * time.Second

// Here asks the servers of this machine. Those that do not answer are not there.
func Here(ctx context.Context, getenv func(string) string) []Means {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	found := make([]*Means, len(servers))
	var asked sync.WaitGroup
	for i, s := range servers {
		asked.Go(func() { found[i] = s.ask(ctx, getenv) })
	}
	asked.Wait()
	var out []Means
	for _, m := range found {
		if m != nil {
			out = append(out, *m)
		}
	}
	return propose(out)
}

func (s server) ask(ctx context.Context, getenv func(string) string) *Means {
	address := s.address
	if s.name == "ollama" {
		address = cmp.Or(ollamaAddress(getenv("OLLAMA_HOST")), address)
	}
	m := &Means{
		Name: s.name, What: "the server of models at " + address + ", where " + s.title + " listens", Agent: "model", ProviderName: s.name, Local: true,
		Provider: config.Provider{Kind: string(gateway.Chat), BaseURL: "http://" + address + "/v1"},
	}
	var err error
	if m.Models, err = gateway.Models(ctx, m.Upstream(getenv)); err != nil {
		return nil
	}
	return m
}

// ollamaAddress is the address that Ollama's own variable names, "" when it is
// none of this machine's.
func ollamaAddress(host string) string {
	if host == "" {
		return ""
	}
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	u, err := url.Parse(host)
	if err != nil || u.Scheme != "http" {
		return ""
	}
	name, port := u.Hostname(), cmp.Or(u.Port(), "11434")
	ip := net.ParseIP(name)
	switch {
	case ip != nil && ip.IsUnspecified(): // it listens everywhere, here too
		return net.JoinHostPort("127.0.0.1", port)
	case strings.EqualFold(name, "localhost"), ip != nil && ip.IsLoopback():
		return net.JoinHostPort(name, port)
	}
	return ""
}

// Offered asks for the models, where they are not known from the machine itself.
func (m Means) Offered(ctx context.Context, getenv func(string) string) ([]string, error) {
	if m.Local {
		return m.Models, nil
	}
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	return gateway.Models(ctx, m.Upstream(getenv))
}

// Find is the means of that name.
func Find(all []Means, name string) (Means, bool) {
	i := slices.IndexFunc(all, func(m Means) bool { return m.Name == name })
	if i < 0 {
		return Means{}, false
	}
	return all[i], true
}
