package claude

import (
	"errors"
	"fmt"
	"strings"

	"conclave/agent"
)

// tokenVar is where the program takes the token of a login from, and where the
// person's environment has it.
const tokenVar = "CLAUDE_CODE_OAUTH_TOKEN"

// loginHosts are those that a session by login has to reach: the one that serves
// the model. Tokens are renewed, connectors served and errors reported elsewhere.
var loginHosts = []string{"api.anthropic.com"}

// minToken is how long a token must be to be recognised where it is repeated.
const minToken = 16

// Lend takes the person's login from their environment: the token that
// `claude setup-token` prints. It reads no file of the program's.
func Lend(env func(string) string) (*agent.Login, error) {
	token := env(tokenVar)
	switch {
	case token == "":
		return nil, errors.New(tokenVar + " is not set: `claude setup-token` prints the token that belongs there")
	case strings.TrimSpace(token) != token || strings.ContainsAny(token, " \t\r\n\x00") || len(token) < minToken:
		return nil, errors.New(tokenVar + " does not hold what `claude setup-token` prints: one word, without blanks")
	case strings.HasPrefix(token, "sk-ant-api"):
		return nil, fmt.Errorf("%s holds an API key: put it into ANTHROPIC_API_KEY and take `login` away", tokenVar)
	}
	return &agent.Login{Hosts: loginHosts, Credential: []byte(token), Secrets: []string{token}}, nil
}
