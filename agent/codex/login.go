package codex

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"conclave/internal/jsonrpc"
	"conclave/internal/jsontext"
)

// Login is a person's subscription, as far as a session needs it: the access
// token of the hour. The token that renews it stays where it is, because who
// renews it makes every other copy of it worthless.
type Login struct {
	AccessToken string
	AccountID   string
	Plan        string
}

// LoginFile reads the login from the auth.json of the person's own program,
// anew each time it is asked: when the token has run out, that program renews
// it.
func LoginFile(path string) func(context.Context) (Login, error) {
	return func(context.Context) (Login, error) {
		b, err := os.ReadFile(path)
		if err != nil {
			return Login{}, fmt.Errorf("read codex login: %w; `codex login` makes one", err)
		}
		tokens := jsontext.Members(jsontext.Get(b, "tokens"), "access_token", "account_id")
		if jsontext.Text(tokens[0]) == "" {
			return Login{}, fmt.Errorf("read codex login: %s holds none; `codex login` makes one", path)
		}
		return Login{AccessToken: jsontext.Text(tokens[0]), AccountID: jsontext.Text(tokens[1])}, nil
	}
}

func (l Login) params() map[string]any {
	p := map[string]any{"accessToken": l.AccessToken, "chatgptAccountId": l.AccountID, "chatgptPlanType": nil}
	if l.Plan != "" {
		p["chatgptPlanType"] = l.Plan
	}
	return p
}

// logIn gives the program the login. It needs no answer: a login that does not
// work shows in the first turn.
func (s *session) logIn(ctx context.Context) error {
	if s.opts.Login == nil || s.spec.Model.Token != "" {
		return nil
	}
	l, err := s.opts.Login(ctx)
	if err != nil {
		return err
	}
	if l.AccessToken == "" {
		return errors.New("log in to codex: the login has no access token")
	}
	params := l.params()
	params["type"] = "chatgptAuthTokens"
	id, answer := s.calls.Begin()
	line, err := jsonrpc.NewRequest(id, "account/login/start", params)
	if err != nil {
		return err
	}
	if err := s.sendSecret(line, l.AccessToken); err != nil {
		return err
	}
	m, err := s.await(ctx, "account/login/start", answer)
	if err == nil {
		err = m.Err()
	}
	if err != nil {
		return fmt.Errorf("log in to codex: %w", err)
	}
	return nil
}

// renew answers the program when its access token has run out.
func (s *session) renew(msg jsonrpc.Message) error {
	var l Login
	err := errors.New("this session has no login")
	if s.opts.Login != nil {
		l, err = s.opts.Login(s.ctx)
	}
	if err != nil || l.AccessToken == "" {
		line, buildErr := jsonrpc.NewFailure(msg.ID, &jsonrpc.Error{Code: -32000, Message: fmt.Sprint("no login: ", err)})
		if buildErr != nil {
			return buildErr
		}
		return s.send(line)
	}
	line, err := jsonrpc.NewResult(msg.ID, l.params())
	if err != nil {
		return err
	}
	return s.sendSecret(line, l.AccessToken)
}

// withheld stands on the record where a secret went to the program.
const withheld = "[withheld]"

// sendSecret sends a line and records it without the secret.
func (s *session) sendSecret(line []byte, secret string) error {
	quoted, _ := json.Marshal(secret) // a string
	shown := bytes.ReplaceAll(line, quoted, []byte(`"`+withheld+`"`))
	return s.sendAs(line, shown)
}
