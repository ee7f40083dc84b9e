package seat

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"

	"conclave/agent"
	"conclave/audit"
	"conclave/forwarder"
	"conclave/gateway"
)

// A seat that is played with the person's login: the program speaks to its
// vendor by itself, through a forwarder, and the credential is in its room.
// Whatever repeats it is kept off the record and out of everything that is
// made from a turn.

// openForwarder opens the way to the vendor's hosts and to the room's tools.
func (s *Seat) openForwarder(token string) (err error) {
	s.forwarder, err = forwarder.New(forwarder.Options{
		Hosts: s.plan.Login.Hosts, Token: token, Tools: s.guardTools(s.toolbox), Events: s.emitter, Dial: s.plan.Dial,
	})
	return err
}

// lend puts the login into what the program is started with.
func (s *Seat) lend(spec *agent.Spec) {
	login := *s.plan.Login
	login.Proxy = s.forwarder.ProxyURL(s.room.GatewayURL())
	spec.Login = &login
	if len(s.plan.Tools) > 0 {
		spec.Tools.MCP = []agent.MCPServer{s.roomTools(s.forwarder.Token())}
	}
}

// cleaner takes the credential out of what is recorded; nil where none was lent.
func (s *Seat) cleaner() func([]byte) []byte {
	if s.lent == nil {
		return nil
	}
	return s.lent.Clean
}

// blobs is where a program's bytes are kept.
func (s *Seat) blobs() agent.BlobStore {
	if s.lent == nil {
		return s.writer
	}
	return cleanBlobs{s.writer, s.lent}
}

type cleanBlobs struct {
	to   agent.BlobStore
	lent *gateway.Secrets
}

func (c cleanBlobs) AppendBlob(channel string, data []byte) error {
	clean := c.lent.Clean(data)
	if bytes.HasSuffix(data, []byte("\n")) && !bytes.HasSuffix(clean, []byte("\n")) {
		clean = append(clean, '\n') // it is still a line
	}
	return c.to.AppendBlob(channel, clean)
}

// maxToolCall bounds the body of a call that is looked through.
const maxToolCall = 8 << 20

// guardTools refuses calls that repeat the credential: what a tool is told is
// written into files.
func (s *Seat) guardTools(tools http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxToolCall))
		if err != nil {
			http.Error(w, "the call cannot be read", http.StatusRequestEntityTooLarge)
			return
		}
		if s.lent.In(body) {
			http.Error(w, "this call repeats the credential that was lent to this room: leave it out", http.StatusForbidden)
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		tools.ServeHTTP(w, r)
	})
}

// withoutLogin takes the credential out of a turn's outcome.
func (s *Seat) withoutLogin(reply agent.Reply, err error) (agent.Reply, error) {
	if s.lent == nil {
		return reply, err
	}
	if s.lent.In([]byte(reply.Text)) {
		reply.Text = string(s.lent.Clean([]byte(reply.Text)))
		for n := range reply.Uses { // where they stood is no longer known
			reply.Uses[n].Said = min(reply.Uses[n].Said, len(reply.Text))
		}
	}
	if s.lent.In(reply.Structured) {
		reply.Structured = nil // a part of an answer is none
		err = errors.Join(err, errors.New("the answer repeats the credential that was lent to this room"))
	}
	if err != nil && s.lent.In([]byte(err.Error())) {
		err = &cleanError{string(s.lent.Clean([]byte(err.Error()))), err}
	}
	s.told += Told(reply.Usage).Tokens
	reply.Usage.CostUSD = 0 // by list prices, which are not what a plan costs
	return reply, err
}

// cleanError is an error whose words have lost the credential.
type cleanError struct {
	text string
	err  error
}

func (e *cleanError) Error() string { return e.text }
func (e *cleanError) Unwrap() error { return e.err }

// affordLogin refuses a turn beyond the seat's own tokens: without a gateway,
// what the program has told after each turn is all that is known.
func (s *Seat) affordLogin() error {
	most := s.plan.Budget.Tokens
	if s.lent == nil || most == 0 || s.told < most {
		return nil
	}
	return &UnansweredError{fmt.Errorf("%s has spent %d of %d tokens, by what its program tells: "+
		"say more under tokens in your own configuration", s.plan.Role, s.told, most)}
}

// receiptOfLogin says what nobody saw, and what there is to be seen of it.
func (s *Seat) receiptOfLogin(r *audit.Receipt) {
	o := s.forwarder.Observed()
	r.ModelInput, r.Credential = audit.InputNotObserved, audit.CredentialInRoom
	r.Forwarder = &audit.Forwarder{Hosts: s.forwarder.Hosts(), Connections: o.Connections, Refused: o.Refused,
		Sent: o.Sent, Received: o.Received}
}
