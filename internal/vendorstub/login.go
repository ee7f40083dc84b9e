package vendorstub

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Login is one of nobody's: it has the form of a program's own and opens nothing
// but the stand-in.
type Login struct {
	// Token is what the vendor is shown, Secrets all that must be nowhere.
	Token   string
	Secrets []string
	env     map[string]string
}

// Getenv is the environment of a person who has it.
func (l Login) Getenv(name string) string { return l.env[name] }

// ClaudeLogin is what `claude setup-token` would print.
func ClaudeLogin() Login {
	token := "sk-ant-" + "oat01-" + strings.Repeat("0123456789abcdef", 4)
	return Login{token, []string{token}, map[string]string{"CLAUDE_CODE_OAUTH_TOKEN": token}}
}

// CodexLogin is what `codex login` would write into a home; it is good for an
// hour.
func CodexLogin(home string) (Login, error) {
	const renews = "renews-everything-and-is-lent-to-nobody"
	until := time.Now().Add(time.Hour).Unix()
	enc := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	jwt := func(sub string) string {
		return enc(`{"alg":"RS256","typ":"JWT"}`) + "." + enc(fmt.Sprintf(`{"exp":%d,"sub":"%s","email":"ada@example.com",`+
			`"https://api.openai.com/auth":{"chatgpt_account_id":"acc-1","chatgpt_plan_type":"plus"}}`, until, sub)) +
			"." + enc("signed by nobody for "+sub)
	}
	access, id := jwt("access"), jwt("id")
	file := `{"auth_mode":"chatgpt","tokens":{"access_token":"` + access + `","id_token":"` + id + `","refresh_token":"` +
		renews + `","account_id":"acc-1"}}`
	err := os.WriteFile(filepath.Join(home, "auth.json"), []byte(file), 0o600)
	return Login{access, []string{access, id, renews}, map[string]string{"CODEX_HOME": home}}, err
}
