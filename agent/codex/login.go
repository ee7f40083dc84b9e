package codex

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"conclave/agent"
	"conclave/internal/jsontext"
)

const (
	authFile    = "auth.json"
	maxAuthFile = 1 << 20
	// shortest is how long a token must be good for to be lent.
	shortest = time.Minute
)

// loginHosts are those that a session by login has to reach: the one that serves
// the model. Tokens are renewed elsewhere (auth.openai.com), and that stays so.
var loginHosts = []string{"chatgpt.com"}

// homeOf is where the person's program keeps its files; "" when nobody knows.
func homeOf(env func(string) string) string {
	if home := env("CODEX_HOME"); home != "" {
		return home
	}
	if env("HOME") == "" {
		return ""
	}
	return filepath.Join(env("HOME"), codexDir)
}

// Lend copies the person's login from the auth.json of their own program,
// without the token that renews it: who renews it makes every other copy of it
// worthless. What is lent is good until it runs out, which is looked at here.
// Errors quote nothing of the file.
func Lend(env func(string) string, now time.Time) (*agent.Login, error) {
	home := homeOf(env)
	if home == "" {
		return nil, errors.New("neither CODEX_HOME nor HOME is set: where Codex keeps its login is not known")
	}
	path := filepath.Join(home, authFile)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s is not there: `codex login` makes it", path)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxAuthFile:
		return nil, fmt.Errorf("%s is no file of a login", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return lend(path, data, now)
}

func lend(path string, data []byte, now time.Time) (*agent.Login, error) {
	if jsontext.Check(data) != nil {
		return nil, fmt.Errorf("%s is no JSON: `codex login` makes it anew", path)
	}
	m := jsontext.Members(jsontext.Get(data, "tokens"), "access_token", "id_token", "account_id")
	access, id, account := jsontext.Text(m[0]), jsontext.Text(m[1]), jsontext.Text(m[2])
	if access == "" || id == "" {
		return nil, fmt.Errorf("%s holds no login: `codex login` makes one "+
			"(a key belongs into OPENAI_API_KEY, without `login`)", path)
	}
	ends, ok := expiry(access)
	if !ok {
		return nil, fmt.Errorf("%s holds a login of a form that is not known here: "+
			"it does not say until when it is good", path)
	}
	if ends.Before(now.Add(shortest)) {
		return nil, fmt.Errorf("the login in %s ran out at %s: run `codex` once, which renews it", path,
			ends.UTC().Format("2006-01-02 15:04 MST"))
	}
	// The program takes no file without the member; empty, it renews nothing.
	copied, err := json.Marshal(map[string]any{
		"auth_mode": "chatgpt", "OPENAI_API_KEY": nil, "last_refresh": now.UTC().Format(time.RFC3339),
		"tokens": map[string]string{"access_token": access, "id_token": id, "refresh_token": "", "account_id": account},
	})
	if err != nil {
		return nil, err
	}
	return &agent.Login{Hosts: loginHosts, Credential: copied, Secrets: []string{access, id}}, nil
}

// expiry reads from a JSON web token until when it is good.
func expiry(token string) (time.Time, bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}, false
	}
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return time.Time{}, false
	}
	var c struct {
		Exp float64 `json:"exp"`
	}
	if json.Unmarshal(claims, &c) != nil || c.Exp <= 0 || c.Exp > 1e12 {
		return time.Time{}, false
	}
	return time.Unix(int64(c.Exp), 0), true
}
