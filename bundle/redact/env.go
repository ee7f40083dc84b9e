package redact

import (
	"bytes"
	stdbase64 "encoding/base64"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/jsontext"
)

// shortestEnv is the shortest value that is removed wherever it stands: a
// shorter one would be found in ordinary words.
const shortestEnv = 6

// envRules find the values themselves, in the forms in which they travel.
func envRules(values []string) []rule {
	forms := map[string]bool{}
	for _, v := range values {
		if len(v) < shortestEnv {
			continue
		}
		forms[v] = true
		forms[url.QueryEscape(v)] = true
		forms[url.PathEscape(v)] = true
		forms[stdbase64.StdEncoding.EncodeToString([]byte(v))] = true
		// The forms in base64 without their end, which depends on what follows.
		forms[strings.TrimRight(stdbase64.StdEncoding.EncodeToString([]byte(v[:len(v)-len(v)%3])), "=")] = true
		once := escaped(v)
		forms[once] = true
		forms[escaped(once)] = true
	}
	var sorted []string
	for f := range forms {
		if len(f) >= shortestEnv {
			sorted = append(sorted, f)
		}
	}
	slices.Sort(sorted)
	var rules []rule
	for _, f := range sorted {
		rules = append(rules, rule{f, true, func(_ *scan, at, after int) (span, bool) {
			return span{at, after, "environment", rankEnv}, true
		}})
	}
	return rules
}

func escaped(v string) string {
	b, _ := jsontext.AppendString(nil, []byte(v))
	return string(b[1 : len(b)-1])
}

// SecretName says whether a variable's name sounds as if its value were
// secret.
func SecretName(name string) bool {
	low := strings.ToLower(name)
	for _, w := range []string{"secret", "token", "passw", "passphrase", "credential", "apikey", "api_key", "access_key",
		"private_key", "_auth", "auth_", "cookie", "session_key", "encryption_key", "signing_key", "dsn", "webhook",
		"connection_string", "connectionstring", "database_url", "redis_url", "mongo_url", "mongodb_uri", "amqp_url", "_sas"} {
		if strings.Contains(low, w) {
			return true
		}
	}
	for _, w := range []string{"key", "pass", "pwd", "pat", "auth"} {
		if low == w && w != "pwd" || strings.HasSuffix(low, "_"+w) {
			return !strings.HasSuffix(low, "public_key")
		}
	}
	return false
}

// SecretEnv returns the values of the variables ("NAME=value") that sound
// secret and whose values are not plain words, numbers, paths or switches.
func SecretEnv(environ []string) []string {
	var out []string
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || !SecretName(name) || len(value) < shortestEnv || plainValue(value) {
			continue
		}
		if !slices.Contains(out, value) {
			out = append(out, value)
		}
	}
	return out
}

// plainValue are values that would be found everywhere and hide nothing.
func plainValue(v string) bool {
	b := []byte(v)
	if filepath.IsAbs(v) || strings.HasPrefix(v, "~/") || strings.HasPrefix(v, "./") {
		return true
	}
	if u, err := url.Parse(v); err == nil && u.Scheme != "" && u.Host != "" {
		_, has := u.User.Password()
		return !has
	}
	if len(v) < 8 && isDigits(b) {
		return true
	}
	m := makeupOf(b)
	if m.digit == 0 && m.symbol == 0 && m.space == 0 && (m.upper == 0 || m.lower == 0) && len(v) < 12 {
		return !bytes.ContainsAny(b, "0123456789") && pronounceable(b)
	}
	return false
}
