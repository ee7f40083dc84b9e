// Package plant makes secrets and their innocent look-alikes for tests: what
// nothing that leaves the machine may hold, and what must come through
// unharmed.
//
// Nothing here opens any door. The secrets are put together when a test runs,
// from parts, with letters from a seeded source: neither this file nor any
// other holds one, and a scanner that goes over the repository finds none.
package plant

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Secret is one planted secret.
type Secret struct {
	Kind  string
	Value string // must be nowhere
	Text  string // a text that holds it, as it would stand in a file or an answer
	// Env says that the value has no shape and no name in Text: only a
	// redactor that knows the environment variable Name finds it.
	Env  bool
	Name string
}

const (
	low    = "abcdefghijklmnopqrstuvwxyz"
	digits = "0123456789"
	up     = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	all    = low + up + digits
	hexes  = digits + "abcdef"
	url    = all + "-_"
)

type source struct{ *rand.Rand }

// pick returns n letters of an alphabet, with a digit and a letter among them
// if the alphabet has both.
func (s source) pick(n int, alphabet string) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[s.IntN(len(alphabet))]
	}
	if n > 6 && strings.Contains(alphabet, "a") && strings.Contains(alphabet, "7") {
		b[2], b[n-2] = '7', 'a'
		if strings.Contains(alphabet, "Q") {
			b[n-3] = 'Q'
		}
	}
	return string(b)
}

// Secrets returns the planted set for a seed: sixty and more, all different
// from seed to seed.
func Secrets(seed uint64) []Secret {
	s := source{rand.New(rand.NewPCG(seed, 60))}
	var list []Secret
	add := func(kind, format, value string) {
		list = append(list, Secret{Kind: kind, Value: value, Text: fmt.Sprintf(format, value)})
	}
	tokens(s, add)
	assignments(s, add)
	connections(s, add)
	commands(s, add)
	keys(s, func(sec Secret) { list = append(list, sec) })
	environment(s, func(sec Secret) { list = append(list, sec) })
	return list
}

type adder func(kind, format, value string)

func tokens(s source, add adder) {
	add("anthropic", "the key is %s, keep it", "sk-"+"ant-api03-"+s.pick(93, url)+"AA")
	add("openai project", "OpenAI: %s", "sk-"+"proj-"+s.pick(74, url))
	add("openai", "%s", "sk-"+s.pick(48, all))
	add("openrouter", "curl with %s", "sk-"+"or-v1-"+s.pick(64, hexes))
	add("github personal", "git clone with %s", "gh"+"p_"+s.pick(36, all))
	add("github fine-grained", "%s", "github"+"_pat_"+s.pick(22, all)+"_"+s.pick(59, all))
	add("github server", "installation %s ok", "gh"+"s_"+s.pick(36, all))
	add("gitlab", "export X=%s", "gl"+"pat-"+s.pick(20, all))
	add("aws access key", "id %s.", "AK"+"IA"+s.pick(16, up))
	add("aws temporary key", "%s", "AS"+"IA"+s.pick(16, up))
	add("google api", "maps?key=%s", "AI"+"za"+s.pick(35, all))
	add("google oauth secret", "%s", "GOC"+"SPX-"+s.pick(28, all))
	add("google token", "%s", "ya"+"29."+s.pick(60, url))
	add("slack bot", "slack: %s", "xo"+"xb-"+s.pick(12, digits)+"-"+s.pick(24, all))
	add("slack hook", "post to https://hooks.slack.com/services/%s", "T"+s.pick(8, up)+"/B"+s.pick(8, up)+"/"+s.pick(24, all))
	add("stripe", "%s", "sk"+"_live_"+s.pick(24, all))
	add("stripe restricted", "(%s)", "rk"+"_live_"+s.pick(24, all))
	add("jwt", "id=%s", s.jwt())
	add("npm", "//registry.npmjs.org/:_authToken=%s", "np"+"m_"+s.pick(36, all))
	add("pypi", "twine -p %s", "py"+"pi-AgEIcHlwaS5vcmc"+s.pick(60, all))
	add("hugging face", "login %s", "h"+"f_"+s.pick(34, low+up))
	add("azure client secret", "secret %s", s.pick(3, low)+"8"+"Q~"+s.pick(34, all))
	add("twilio", "%s", "S"+"K"+s.pick(32, hexes))
	add("sendgrid", "%s", "S"+"G."+s.pick(22, all)+"."+s.pick(43, all))
	add("telegram", "https://api.telegram.org/bot%s/getMe", s.pick(10, digits)+":A"+"A"+s.pick(33, all))
	add("digitalocean", "%s", "do"+"p_v1_"+s.pick(64, hexes))
	add("shopify", "%s", "sh"+"pat_"+s.pick(32, hexes))
	add("databricks", "%s", "da"+"pi"+s.pick(32, hexes))
	add("vault", "VAULT %s", "hv"+"s."+s.pick(90, all))
	add("groq", "%s", "gs"+"k_"+s.pick(52, all))
	add("docker", "docker login -p %s", "dckr"+"_pat_"+s.pick(27, all))
	add("age", "# %s", "AGE-SECRET"+"-KEY-1"+s.pick(58, up))
	add("linear", "%s", "lin"+"_api_"+s.pick(40, all))
	add("tailscale", "up --authkey %s", "ts"+"key-auth-"+s.pick(12, all)+"-"+s.pick(32, all))
}

func (s source) jwt() string {
	enc := base64.RawURLEncoding.EncodeToString
	return enc([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." +
		enc([]byte(`{"sub":"`+s.pick(12, all)+`","iat":1516239022}`)) + "." + s.pick(43, url)
}

func assignments(s source, add adder) {
	add("aws secret", "aws_secret_access_key = %s", s.pick(40, all+"/+"))
	add("generic api key", `"apiKey": "%s"`, s.pick(32, all))
	add("hex api key", "API_KEY=%s", s.pick(32, hexes))
	add("header key", "X-Api-Key: %s", s.pick(40, all))
	add("client secret", `clientSecret: '%s'`, s.pick(28, all))
	add("refresh token", `{"refresh_token":"%s"}`, s.pick(44, url))
	add("session secret", "SESSION_SECRET=%s", s.pick(48, hexes))
	add("yaml password", "  password: %s", "Tr0ub"+s.pick(6, digits)+"dor")
	add("env password", "POSTGRES_PASSWORD=%s", s.pick(8, low)+s.pick(3, digits))
	add("quoted password", `password = "%s"`, s.pick(9, all)+"!"+s.pick(3, digits))
	add("flag password", "mysql --password %s -u root", s.pick(14, all))
	add("rails key", "secret_key_base: %s", s.pick(128, hexes))
	add("plain key", "key=%s", s.pick(32, all))
	add("xml password", "<password>%s</password>", s.pick(12, all))
	add("said password", "the password is %s", s.pick(12, all))
	add("storage account", "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=%s;EndpointSuffix=core", s.pick(86, all)+"==")
	add("encryption key", `"encryption_key": "%s"`, s.pick(43, all)+"=")
}

func connections(s source, add adder) {
	add("postgres", "postgres://app:%s@db.internal:5432/main", s.pick(16, all))
	add("mongo", "mongodb+srv://svc:%s@cluster0.mongodb.net", s.pick(18, all))
	add("redis", "redis://:%s@cache:6379/0", s.pick(20, all))
	add("git remote", "https://oauth2:%s@git.internal/a/b.git", s.pick(24, all))
	add("bearer", "Authorization: Bearer %s", s.pick(40, url))
	add("basic", "Authorization: Basic %s", base64.StdEncoding.EncodeToString([]byte("svc:"+s.pick(15, all))))
	add("token scheme", `"authorization": "Token %s"`, s.pick(40, hexes))
	add("bare bearer", "curl -H 'bearer %s'", s.pick(48, all))
	add("sas", "https://x.blob.core.windows.net/c?sv=2022&sig=%s", s.pick(42, all)+"%3D")
}

// commands are secrets that no name stands beside.
func commands(s source, add adder) {
	b64 := base64.StdEncoding.EncodeToString
	add("netrc", "machine git.internal login ada password %s", s.pick(14, all))
	add("netrc on lines", "machine git.internal\n  login ada\n  password %s\n", s.pick(14, all))
	add("curl login", "curl -sS -u ada:%s https://git.internal/api", s.pick(14, all))
	add("curl login, long", `curl --user "ada:%s" https://git.internal/api`, s.pick(14, all))
	add("mysql", "mysql -h db -u root -p%s main", s.pick(12, all))
	add("sshpass", "sshpass -p '%s' ssh ada@host", s.pick(12, all))
	add("redis-cli", "redis-cli -h cache -a %s ping", s.pick(16, all))
	add("docker auth", `{"auths":{"registry.internal":{"auth":"%s"}}}`, b64([]byte("ada:"+s.pick(18, all))))
	add("discord", "bot %s came up", b64([]byte("1"+s.pick(17, digits)))+"."+s.pick(6, all)+"."+s.pick(38, url))
	add("key in base64", "echo %s | base64 -d", b64([]byte("sk-"+"ant-api03-"+s.pick(93, url)+"AA")))
	add("key in base64, shifted", "data: %s", b64([]byte("x=gh"+"p_"+s.pick(36, all)+"\n")))
	add("private key in base64", "  client-key-data: %s",
		b64([]byte("-----"+"BEGIN PRIVATE KEY-----\n"+s.pick(64, all)+"\n"+s.pick(64, all)+"\n-----"+"END PRIVATE KEY-----\n")))
}

func keys(s source, add func(Secret)) {
	for _, kind := range []string{"RSA ", "OPENSSH ", "EC ", ""} {
		secret := Secret{Kind: strings.ToLower(kind) + "private key", Value: s.pick(64, all)}
		var b strings.Builder
		b.WriteString("-----" + "BEGIN " + kind + "PRIVATE KEY-----\n")
		for range 5 {
			b.WriteString(s.pick(64, all+"+/") + "\n")
		}
		b.WriteString(secret.Value + "\n-----" + "END " + kind + "PRIVATE KEY-----\n")
		secret.Text = b.String()
		add(secret)
	}
}

// environment are secrets without shape: found by their value alone.
func environment(s source, add func(Secret)) {
	for i, name := range []string{"PAYMENTS_TOKEN", "LEGACY_SECRET", "DB_PASSWORD", "SMTP_PASS"} {
		v := s.pick(10+i*4, all)
		add(Secret{Kind: "environment", Name: name, Env: true, Value: v, Text: "it printed " + v + " and went on"})
	}
}

// Environ is what os.Environ would be on a machine with the secrets of the
// environment.
func Environ(secrets []Secret) []string {
	env := []string{"HOME=/home/ada", "LANG=en_GB.UTF-8", "PATH=/usr/bin:/bin", "TERM=xterm"}
	for _, s := range secrets {
		if s.Env {
			env = append(env, s.Name+"="+s.Value)
		}
	}
	return env
}
