package receipt

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"conclave/audit"
	"conclave/gate"
	"conclave/internal/newer"
	"conclave/internal/sample"
)

func written(t testing.TB, r *Receipt) []byte {
	t.Helper()
	data, err := r.Write()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func signed(t testing.TB, r *Receipt) (*Receipt, *Signers) {
	t.Helper()
	key, public := newKey(t, "ed25519")
	if _, err := Sign(context.Background(), r, key, t.TempDir(), os.Getenv); err != nil {
		t.Fatal(err)
	}
	s, err := ReadSigners("signers", []byte("mara@example.org "+public))
	if err != nil {
		t.Fatal(err)
	}
	return r, s
}

// An honest receipt: nothing is found in it, and it holds for whoever knows its
// head or allows its key, and for nobody else.
func TestHonestReceipt(t *testing.T) {
	r, signers := signed(t, someReceipt(t))
	back, err := Read(written(t, r))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		against Against
		want    string
	}{
		"head":           {Against{Head: r.Record.Head}, Holds},
		"key":            {Against{Signers: signers}, Holds},
		"both":           {Against{Signers: signers, Head: r.Record.Head}, Holds},
		"nothing":        {Against{}, NotVouched},
		"another head":   {Against{Head: strings.Repeat("0", 64)}, DoesNotHold},
		"head, bad keys": {Against{Head: r.Record.Head, Signers: &Signers{name: "nobody"}}, DoesNotHold},
	} {
		got := Verify(back, c.against)
		if got.Result != c.want {
			t.Errorf("%s: %s, want %s: %v", name, got.Result, c.want, got.Findings)
		}
	}
	bare := *back
	bare.Signature = ""
	if got := Verify(&bare, Against{Signers: signers}); got.Result != DoesNotHold {
		t.Errorf("the signature was taken off, and with signers it %s", got.Result)
	}
	if got := Verify(&bare, Against{}); got.Result != NotVouched || len(got.Findings) > 0 {
		t.Errorf("without a signature: %s %v", got.Result, got.Findings)
	}
}

// holds says whether anybody would take these bytes for a receipt that holds.
func holds(data []byte, a Against) bool {
	r, err := Read(data)
	return err == nil && Verify(r, a).Result == Holds
}

// Every changed, removed and added byte is found: of a signed receipt by who
// allows the key, of an unsigned one by who knows the head.
func TestEveryByteCounts(t *testing.T) {
	unsigned := someReceipt(t)
	withHead := Against{Head: unsigned.Record.Head}
	plain := written(t, unsigned)
	withKey, signers := signed(t, unsigned)
	cases := map[string]struct {
		data    []byte
		against Against
	}{"unsigned": {plain, withHead}, "signed": {written(t, withKey), Against{Signers: signers}}}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if !holds(c.data, c.against) {
				t.Fatal("the receipt itself does not hold")
			}
			for _, at := range sample.Pick(t, len(c.data), 20, 30) {
				tryChanges(t, c.data, at, c.against)
			}
		})
	}
}

func tryChanges(t *testing.T, data []byte, at int, a Against) {
	t.Helper()
	before, after := string(data[:at]), string(data[at+1:])
	old := data[at]
	tries := []string{before + after, before + " " + string(data[at:]), before + "\n" + string(data[at:]), before + string(old) + string(data[at:])}
	for _, b := range []byte{old ^ 1, old ^ 0x20, old ^ 0x80, '0', ' ', '"', '\\'} {
		if b != old {
			tries = append(tries, before+string([]byte{b})+after)
		}
	}
	for _, try := range tries {
		if try != string(data) && holds([]byte(try), a) {
			t.Fatalf("byte %d (%q): a changed receipt holds: …%.60q", at, old, try[max(0, at-20):])
		}
	}
}

// What a person sees of a receipt of a newer program is that, and not a fault.
func TestNewerReceipt(t *testing.T) {
	data := bytes.Replace(written(t, someReceipt(t)), []byte(`"format": 1`), []byte(`"format": 2,`+"\n"+`    "new": true`), 1)
	if _, err := Read(data); !errors.As(err, new(*newer.Error)) {
		t.Errorf("a newer format: %v", err)
	}
}

// Files that are no receipt, or spell one in another way.
func TestOtherSpellings(t *testing.T) {
	data := string(written(t, someReceipt(t)))
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(data)); err != nil {
		t.Fatal(err)
	}
	replace := func(old, with string) string {
		if !strings.Contains(data, old) {
			t.Fatalf("%q is not in the receipt", old)
		}
		return strings.Replace(data, old, with, 1)
	}
	for name, text := range map[string]string{
		"empty": "", "no JSON": "receipt", "a list": "[]", "null": "null", "an object": "{}", "two": data + data, "compact": compact.String(),
		"no newline": strings.TrimSuffix(data, "\n"), "one more newline": data + "\n", "CRLF": strings.ReplaceAll(data, "\n", "\r\n"),
		"byte order mark": "\ufeff" + data,
		"unknown member":  replace(`  "body": {`, `  "note": 1,`+"\n"+`  "body": {`),
		"double member":   replace(`    "program": "conclave 0.9.0",`, `    "program": "conclave 0.9.0",`+"\n"+`    "program": "conclave 0.9.0",`),
		"upper case":      replace(`"program"`, `"Program"`), "escaped": replace(`"conclave 0.9.0"`, `"\u0063onclave 0.9.0"`),
		"number": replace(`"format": 1`, `"format": 1.0`), "huge number": replace(`"frames": 40`, `"frames": 99999999999999999999`),
		"negative": replace(`"frames": 40`, `"frames": -40`), "null list": replace(`"checks": [`, `"checks": null, "x": [`),
		"time zone": replace(`"made": "2026-03-01T12:00:00Z"`, `"made": "2026-03-01T13:00:00+01:00"`),
		"deep":      `{"record":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `,"body":{"format":1}}`,
		"deep body": `{"body":{"format":1,"case":` + strings.Repeat(`{"a":`, 9000) + `1` + strings.Repeat("}", 9000) + `}}`,
	} {
		if _, err := Read([]byte(text)); err == nil {
			t.Errorf("%s: it is read", name)
		} else if !errors.As(err, new(*FormError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Read(make([]byte, MaxSize+1)); err == nil {
		t.Error("too large, and read")
	}
}

// lies are receipts by somebody who makes records and heads of their own, and
// signs: everything is in order but what is said. settled lies have digests and
// decision made anew.
var lies = map[string]struct {
	settled bool
	about   string
	tell    func(b *Body)
}{
	"outcome": {false, "decision", func(b *Body) { b.Decision.Outcome = "not met" }},
	"met against votes": {false, "decision", func(b *Body) {
		b.Judges[1].Findings[1].Status = "not met"
	}},
	"counts":               {false, "decision", func(b *Body) { b.Decision.Criteria[0].Met = 2 }},
	"independent":          {false, "decision", func(b *Body) { b.Decision.Independent = true }},
	"failed check outvote": {false, "decision", func(b *Body) { b.Checks[0].State = "failed" }},
	"no criteria decided":  {false, "decision", func(b *Body) { b.Decision.Criteria = nil }},
	"judges shortened":     {true, "judges", func(b *Body) { b.Judges = b.Judges[:1] }},
	"judges and N":         {false, "case", func(b *Body) { b.Judges, b.Case.N = b.Judges[:1], 1 }},
	"even judges":          {true, "judges", func(b *Body) { b.Judges, b.Case.N = b.Judges[:2], 2 }},
	"judge twice":          {true, "judges", func(b *Body) { b.Judges[1] = b.Judges[0]; b.Judges[1].Number = 2 }},
	"judges swapped":       {true, "judges", func(b *Body) { b.Judges[0], b.Judges[1] = b.Judges[1], b.Judges[0] }},
	"a huge panel":         {true, "judges", func(b *Body) { b.Case.N = 1 << 60 }},
	"no judges":            {true, "judges", func(b *Body) { b.Judges, b.Case.N = nil, 0 }},
	"rule":                 {true, "judges", func(b *Body) { b.Case.Rule = "one" }},
	"role":                 {true, "judges", func(b *Body) { b.Case.Role = "cat" }},
	"findings swapped": {true, "judge 1", func(b *Body) {
		f := b.Judges[0].Findings
		f[0], f[1] = f[1], f[0]
	}},
	"finding missing": {true, "judge 2", func(b *Body) { b.Judges[1].Findings = b.Judges[1].Findings[:1] }},
	"finding twice":   {true, "judge 1", func(b *Body) { b.Judges[0].Findings[1].Number = 1 }},
	"status":          {true, "judge 1", func(b *Body) { b.Judges[0].Findings[0].Status = "splendid" }},
	"failed and met":  {true, "judge 1", func(b *Body) { b.Judges[0].Failed = "it fell asleep" }},
	"neither":         {true, "judge 1", func(b *Body) { b.Judges[0].Verdict = "" }},
	"cites elsewhere": {true, "judge 1", func(b *Body) { b.Judges[0].Findings[0].Citations[0].Path = "../secret" }},
	"cites line 0":    {true, "judge 1", func(b *Body) { b.Judges[0].Findings[0].Citations[0].Line = 0 }},
	"family":          {true, "judge 2", func(b *Body) { b.Judges[1].Family = "openai gpt" }},
	"case digest":     {false, "case", func(b *Body) { b.Case.Digest = strings.Repeat("0", 64) }},
	"work digest":     {false, "work", func(b *Body) { b.Case.Work.Digest = strings.Repeat("0", 64) }},
	"path twice":      {true, "work", func(b *Body) { b.Case.Work.Files[1] = b.Case.Work.Files[0] }},
	"path up":         {true, "work", func(b *Body) { b.Case.Work.Files[0].Path = "../etc/passwd" }},
	"path absolute":   {true, "work", func(b *Body) { b.Case.Work.Files[0].Path = "/etc/passwd" }},
	"path inside up":  {true, "work", func(b *Body) { b.Case.Work.Files[0].Path = "a/../../x" }},
	"path empty":      {true, "work", func(b *Body) { b.Case.Work.Files[0].Path = "" }},
	"file below file": {true, "work", func(b *Body) { b.Case.Work.Files[0].Path = "src/main.go/x" }},
	"size":            {true, "work", func(b *Body) { b.Case.Work.Files[0].Size = -1 }},
	"digest of file":  {true, "work", func(b *Body) { b.Case.Work.Files[0].SHA256 = "DEADBEEF" }},
	"no work": {true, "work", func(b *Body) {
		b.Case.Work.Files = nil
		for i := range b.Judges {
			b.Judges[i].Given = b.Judges[i].Given[:1]
		}
	}},
	"half a diff":       {true, "work", func(b *Body) { b.Case.Work.Base = strings.Repeat("ab", 20) }},
	"criteria text":     {true, "criteria", func(b *Body) { b.Case.Criteria.Text += "3. More.\n" }},
	"origin":            {true, "criteria", func(b *Body) { b.Case.Criteria.Origin = "the boss" }},
	"commit missing":    {true, "criteria", func(b *Body) { b.Case.Criteria.Commit = "" }},
	"easier criteria":   {true, "criteria", func(b *Body) { b.Case.Criteria.List[1].Text = "The program is there." }},
	"fewer criteria":    {true, "criteria", func(b *Body) { b.Case.Criteria.List = b.Case.Criteria.List[:1] }},
	"no check any more": {true, "criteria", func(b *Body) { b.Case.Criteria.List[0].Check, b.Checks = "", nil }},
	"criteria of the change": {true, "criteria", func(b *Body) {
		w := &b.Case.Work
		w.Base, w.Head, w.Diff = strings.Repeat("ab", 20), b.Case.Criteria.Commit, &File{Path: "work.diff", SHA256: strings.Repeat("a", 64)}
	}},
	"criteria numbers":  {true, "criteria", func(b *Body) { b.Case.Criteria.List[0].Number = 3 }},
	"expectation":       {true, "criteria", func(b *Body) { b.Case.Expect = "ready" }},
	"check missing":     {true, "checks", func(b *Body) { b.Checks = nil }},
	"another check":     {true, "checks", func(b *Body) { b.Checks[0].Command = "true" }},
	"check twice":       {true, "checks", func(b *Body) { b.Checks = append(b.Checks, b.Checks[0]) }},
	"check of nothing":  {true, "checks", func(b *Body) { b.Checks[0].Number = 2 }},
	"state":             {true, "checks", func(b *Body) { b.Checks[0].State = "fine" }},
	"sealed, no probes": {true, "judge 1", func(b *Body) { b.Judges[0].Enforced.Probes = nil }},
	"probe that shows nothing": {true, "judge 1", func(b *Body) {
		b.Judges[0].Enforced.Probes = []audit.Probe{{Name: "read", Control: "ok", Restricted: "ok"}}
	}},
	"fenced":               {true, "judge 1", func(b *Body) { b.Judges[0].Enforced.Level = "fenced" }},
	"fenced by the system": {true, "judge 1", func(b *Body) { b.Judges[0].Enforced.Level, b.Judges[0].Enforced.Fallback = "fenced", "no namespaces" }},
	"forwarded":            {true, "judge 1", func(b *Body) { b.Judges[0].Enforced.Forwards = []string{"api.example.org"} }},
	"no level":             {true, "judge 1", func(b *Body) { b.Judges[0].Enforced.Level = "" }},
	"in process, a program": {true, "judge 1", func(b *Body) {
		b.Judges[0].InProcess, b.Judges[0].Enforced = true, audit.Enforcement{}
	}},
	"in process, with walls": {true, "judge 1", func(b *Body) { b.Judges[0].InProcess, b.Judges[0].Adapter = true, "model" }},
	"a conversation was there": {true, "judge 1", func(b *Body) {
		b.Judges[0].Given = append(b.Judges[0].Given, audit.Item{Kind: "conversation-animals", Path: "work/cat.md", SHA256: strings.Repeat("a", 64)})
	}},
	"its old verdict was there": {true, "judge 1", func(b *Body) {
		b.Judges[0].Given = append(b.Judges[0].Given, audit.Item{Kind: "verdict-own", Path: "work/verdict.md", SHA256: strings.Repeat("a", 64)})
	}},
	"other work was there": {true, "judge 1", func(b *Body) { b.Judges[0].Given[1].SHA256 = strings.Repeat("a", 64) }},
	"more work was there": {true, "judge 1", func(b *Body) {
		b.Judges[0].Given = append(b.Judges[0].Given, audit.Item{Kind: "final-work", Path: "work/work/NOTES.md", SHA256: strings.Repeat("a", 64)})
	}},
	"work was there twice":    {true, "judge 1", func(b *Body) { b.Judges[0].Given = append(b.Judges[0].Given, b.Judges[0].Given[1]) }},
	"work was not there":      {true, "judge 1", func(b *Body) { b.Judges[0].Given = b.Judges[0].Given[:2] }},
	"a view was there":        {true, "judge 1", func(b *Body) { b.Judges[0].Given[1].Mounted = true }},
	"criteria were not there": {true, "judge 1", func(b *Body) { b.Judges[0].Given = b.Judges[0].Given[1:] }},
	"criteria twice":          {true, "judge 1", func(b *Body) { b.Judges[0].Given = append(b.Judges[0].Given, b.Judges[0].Given[0]) }},
	"no record":               {true, "judge 3", func(b *Body) { b.Judges[2].Head = "" }},
	"no run":                  {true, "judge 3", func(b *Body) { b.Judges[2].Run = "" }},
	"nothing sent":            {true, "judge 1", func(b *Body) { b.Judges[0].Sent = nil }},
	"no model, and sent":      {true, "judge 1", func(b *Body) { b.Judges[0].ModelInput = audit.InputNone }},
	"input":                   {true, "judge 1", func(b *Body) { b.Judges[0].ModelInput = "all seen, trust me" }},
	"ended before":            {true, "judge 1", func(b *Body) { b.Judges[0].Ended = b.Judges[0].Started.Add(-time.Second) }},
	"made before":             {true, "judge 1", func(b *Body) { b.Made = b.Made.Add(-time.Hour) }},
}

// A liar has a key of their own, a record of their own and a head to show, and
// still no lie about what follows from what is taken for a receipt that holds.
func TestLiesAreFound(t *testing.T) {
	key, public := newKey(t, "ed25519")
	signers, err := ReadSigners("signers", []byte("liar@example.org "+public))
	if err != nil {
		t.Fatal(err)
	}
	for name, lie := range lies {
		b := someBody()
		lie.tell(&b)
		if lie.settled {
			settle(&b)
		}
		r := receiptOf(t, b)
		if _, err := Sign(context.Background(), r, key, t.TempDir(), os.Getenv); err != nil {
			t.Fatal(err)
		}
		back, err := Read(written(t, r))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := Verify(back, Against{Head: r.Record.Head, Signers: signers})
		if got.Result != DoesNotHold {
			t.Errorf("%s: it %s", name, got.Result)
			continue
		}
		if !about(got.Findings, lie.about) {
			t.Errorf("%s: found about other things: %v", name, got.Findings)
		}
	}
}

func about(list []Statement, what string) bool {
	for _, s := range list {
		if s.About == what {
			return true
		}
	}
	return false
}

// Links that lead nowhere.
func TestBrokenLinks(t *testing.T) {
	good := someReceipt(t)
	other := someBody()
	other.Program = "conclave 0.9.1"
	swapped := receiptOf(t, other)
	for name, change := range map[string]func(*Receipt){
		"another body":   func(r *Receipt) { r.Body = other },
		"another record": func(r *Receipt) { r.Record = swapped.Record },
		"head":           func(r *Receipt) { r.Record.Head = swapped.Record.Head },
		"frames":         func(r *Receipt) { r.Record.Frames++ },
		"run":            func(r *Receipt) { r.Record.Run = "another" },
		"before":         func(r *Receipt) { r.Record.Before = strings.Repeat("0", 64) },
		"no frames":      func(r *Receipt) { r.Record.Last = nil },
		"one frame":      func(r *Receipt) { r.Record.Last = r.Record.Last[:1] },
		"three frames":   func(r *Receipt) { r.Record.Last = append(r.Record.Last, r.Record.Last[1]) },
		"salt":           func(r *Receipt) { r.Record.Last[0].Salt = strings.ToUpper(r.Record.Last[0].Salt) + "00" },
		"upper salt":     func(r *Receipt) { r.Record.Last[0].Salt = "AB" + r.Record.Last[0].Salt[2:] },
		"kind":           func(r *Receipt) { r.Record.Last[0].Kind = "blob" },
		"no seal":        func(r *Receipt) { r.Record.Last[1].Payload = "{}" },
		"event":          func(r *Receipt) { r.Record.Last[0].Payload = `{"event":"gate.case","context":{}}` },
	} {
		r := *good
		r.Record.Last = append([]Frame(nil), good.Record.Last...)
		change(&r)
		if got := Verify(&r, Against{Head: r.Record.Head}); got.Result != DoesNotHold || !about(got.Findings, "record") {
			t.Errorf("%s: %s %v", name, got.Result, got.Findings)
		}
	}
}

// A signature over another receipt, for another purpose, by a key that was not
// allowed then.
func TestForeignSignatures(t *testing.T) {
	key, public := newKey(t, "ed25519")
	r := someReceipt(t)
	other := someBody()
	other.Stamps = []string{"another"}
	o := receiptOf(t, other)
	if _, err := Sign(context.Background(), o, key, t.TempDir(), os.Getenv); err != nil {
		t.Fatal(err)
	}
	message, err := r.signed()
	if err != nil {
		t.Fatal(err)
	}
	forGit, err := keygen(t, string(message), "-Y", "sign", "-n", "git", "-f", key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Sign(context.Background(), r, key, t.TempDir(), os.Getenv); err != nil {
		t.Fatal(err)
	}
	own := r.Signature
	for name, c := range map[string]struct{ signature, signers string }{
		"over another receipt": {o.Signature, "m " + public},
		"for git":              {forGit, "m " + public},
		"allowed for git":      {own, `m namespaces="git" ` + public},
		"allowed later":        {own, `m valid-after="20260302Z" ` + public},
		"allowed before":       {own, `m valid-before="20260228Z" ` + public},
		"an authority":         {own, "m cert-authority " + public},
		"garbage":              {"signed, me", "m " + public},
	} {
		signers, err := ReadSigners("signers", []byte(c.signers))
		if err != nil {
			t.Fatal(err)
		}
		r.Signature = c.signature
		got := Verify(r, Against{Signers: signers, Head: r.Record.Head})
		if got.Result != DoesNotHold || !about(got.Findings, "signature") {
			t.Errorf("%s: %s %v", name, got.Result, got.Findings)
		}
	}
}

// What was judged is compared with what lies here, file by file.
func TestWorkHere(t *testing.T) {
	r := someReceipt(t)
	for name, c := range map[string]struct {
		change func(*Found)
		want   string
	}{
		"the same": {func(*Found) {}, Holds},
		"changed":  {func(f *Found) { f.Files[0].SHA256 = strings.Repeat("0", 64) }, DoesNotHold},
		"longer":   {func(f *Found) { f.Files[0].Size++ }, DoesNotHold},
		"missing":  {func(f *Found) { f.Files = f.Files[:1] }, DoesNotHold},
		"more":     {func(f *Found) { f.Files = append(f.Files, File{Path: "new.go"}) }, DoesNotHold},
		"mode":     {func(f *Found) { f.Files[0].Executable = true }, DoesNotHold},
		"no modes": {func(f *Found) { f.Files[0].Executable, f.Modes = true, false }, Holds},
		"citation": {func(f *Found) { f.Lines["src/main.go"] = 2 }, DoesNotHold},
	} {
		found := &Found{Where: "here", Modes: true, Lines: map[string]int{"src/main.go": 3, "REHEARSAL.md": 1},
			Files: append([]File(nil), r.Body.Case.Work.Files...)}
		c.change(found)
		if got := Verify(r, Against{Head: r.Record.Head, Work: found}); got.Result != c.want {
			t.Errorf("%s: %s %v", name, got.Result, got.Findings)
		}
	}
}

// The Guardian's case: an expectation, a verdict, no criteria.
func TestGuardian(t *testing.T) {
	body := func(verdict string) Body {
		b := someBody()
		b.Case.Role, b.Case.N, b.Case.Expect, b.Checks = "guardian", 1, "The rollback is documented.", nil
		b.Case.Criteria = Criteria{} // as package gate leaves them
		b.Judges = b.Judges[:1]
		j := &b.Judges[0]
		j.Verdict, j.Findings = verdict, nil
		for i := range j.Given {
			j.Given[i].Kind = "stage-work"
		}
		j.Given[0] = audit.Item{Kind: "expectation", Path: "work/expectation.md", SHA256: strings.Repeat("c", 64)}
		settle(&b)
		return b
	}
	for verdict, want := range map[string]string{"Approved": gate.Met, "Blocked": gate.NotMet, "Conditional Approval": gate.NotMet, "No verdict": gate.NotJudged} {
		r := receiptOf(t, body(verdict))
		got := Verify(r, Against{Head: r.Record.Head})
		if got.Result != Holds || got.Outcome != want {
			t.Errorf("%s: %s, %s %v", verdict, got.Outcome, got.Result, got.Findings)
		}
	}
	b := body("Approved")
	b.Judges[0].Given[0].Kind = "success-criteria"
	r := receiptOf(t, b)
	if got := Verify(r, Against{Head: r.Record.Head}); got.Result != DoesNotHold {
		t.Errorf("a Guardian that saw the Dragon's criteria: %s", got.Result)
	}
}

// A judge that failed is no vote, and no fault of the receipt.
func TestFailedJudge(t *testing.T) {
	b := someBody()
	b.Judges[1] = Judge{Number: 2, Failed: "the program could not be started", Started: b.Made, Ended: b.Made}
	settle(&b)
	r := receiptOf(t, b)
	got := Verify(r, Against{Head: r.Record.Head})
	if got.Result != Holds || got.Outcome != gate.NotJudged {
		t.Errorf("%s, %s %v", got.Result, got.Outcome, got.Findings)
	}
}

// FuzzRead: what is read is written again byte for byte, and checking it ends.
func FuzzRead(f *testing.F) {
	data := written(f, someReceipt(f))
	f.Add(data)
	f.Add(bytes.Replace(data, []byte(`"format": 1`), []byte(`"format": 2`), 1))
	f.Add([]byte("{}"))
	f.Add(fmt.Appendf(nil, `{"record":{},"body":{"format":1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Read(data)
		if err != nil {
			return
		}
		if again := written(t, r); !bytes.Equal(again, data) {
			t.Fatalf("read %q, written %q", data, again)
		}
		if got := Verify(r, Against{Head: r.Record.Head}); got.Result == Holds && len(got.Findings) > 0 {
			t.Fatal("it holds, and something is found")
		}
	})
}

// FuzzSigners: no file of allowed signers makes the reader fall over, and what it
// refuses allows nobody.
func FuzzSigners(f *testing.F) {
	f.Add("mara@example.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPszBTm6gvi6gTeoi+jD3sXwI6QchaWpLiyo9zOzhEhG")
	f.Add(`a namespaces="x",valid-after="20260101" ssh-ed25519 A`)
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := ReadSigners("signers", []byte(text)); err == nil && len(s.keys) == 0 {
			t.Fatal("a file without keys is read")
		}
	})
}
