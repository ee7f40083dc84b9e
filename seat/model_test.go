package seat

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"conclave/agent/model"
	"conclave/audit"
	"conclave/gateway"
	"conclave/internal/modelstub"
	"conclave/record"
	"conclave/toolbox"
)

// TestAModelAtADesk: who asks a model in this process does so through the seat's
// gateway: the input is observed, the key is nowhere, and the conversation goes
// on when the seat is opened again.
func TestAModelAtADesk(t *testing.T) {
	const key = "sk-the-real-key-0123456789"
	stub := modelstub.New(modelstub.Script(
		modelstub.Answer(modelstub.Call("submit", "c1", `{"verdict":"slain"}`)),
		modelstub.Answer(modelstub.Say("It is slain.")),
		modelstub.Answer(modelstub.Say("As I said."))))
	defer stub.Close()
	ws := t.TempDir()
	p := plan(t, ws, "turn\n say nothing")
	p.Agent, p.Model = model.New(model.Config{Kind: gateway.Anthropic}), "stub-1"
	p.Upstream = &gateway.Upstream{Kind: gateway.Anthropic, BaseURL: stub.URL(), Key: key}
	p.Tools = []toolbox.Tool{{Name: "submit", Description: "hand in", Handle: submitted,
		Schema: json.RawMessage(`{"type":"object","properties":{"verdict":{"type":"string"}},"required":["verdict"]}`)}}
	s := open(t, p)
	reply, err := s.Take(t.Context(), said("t1", "here is the work"))
	if err != nil || reply.Text != "It is slain." {
		t.Fatalf("%+v, %v", reply, err)
	}
	if err := s.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	s = open(t, p)
	if reply, err = s.Take(t.Context(), said("t2", "are you sure?")); err != nil || reply.Text != "As I said." {
		t.Fatalf("%+v, %v", reply, err)
	}
	sent := stub.Requests()[2]
	for _, want := range []string{"here is the work", "It is slain.", `"input":{"verdict":"slain"}`, `"content":"thanks"`, "are you sure?"} {
		if !strings.Contains(string(sent.Body), want) {
			t.Errorf("the conversation that goes on lacks %q: %s", want, sent.Body)
		}
	}
	if got := sent.Header.Get("X-Api-Key"); got != key {
		t.Errorf("the provider was shown %q", got)
	}
	var receipts []audit.Receipt
	for _, raw := range events(t, ws, "run-1", audit.EventReceipt) {
		var r audit.Receipt
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatal(err)
		}
		receipts = append(receipts, r)
	}
	if len(receipts) != 2 {
		t.Fatalf("%d receipts", len(receipts))
	}
	for _, r := range receipts {
		if !r.InProcess || r.ModelInput != audit.InputObserved || r.Adapter != "model" || r.Model != "stub-1" || r.Calls == 0 ||
			r.Program != "" || r.Session != receipts[0].Session {
			t.Errorf("receipt %+v", r)
		}
	}
	if r := receipts[0]; len(r.Tools) != 1 || r.Tools[0] != "submit" || r.Calls != 2 || r.Usage.Output != 20 {
		t.Errorf("receipt %+v", r)
	}
	path, err := record.Path(ws, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
		if f := r.Frame(); bytes.Contains(f.Payload, []byte(key)) {
			t.Errorf("the key stands in frame %d", f.Number)
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := s.Close(t.Context(), "done"); err != nil {
		t.Fatal(err)
	}
	report, err := audit.Judge(file)
	if err != nil || len(report.Findings) > 0 {
		t.Errorf("the audit finds %+v, %v", report, err)
	}
}

func submitted(context.Context, json.RawMessage) (string, error) { return "thanks", nil }
