package receipt

import (
	"fmt"

	"golang.org/x/crypto/ssh"
)

// What a check comes to.
const (
	Holds       = "holds"          // and somebody vouches for it
	NotVouched  = "nobody vouches" // nothing is wrong in it, and anybody could have written it
	DoesNotHold = "does not hold"  // something is wrong
)

// Against is what a reader knows beside the receipt.
type Against struct {
	Head    string   // of the gate's record, from elsewhere
	Signers *Signers // keys that the reader allows; nil for none
	Work    *Found   // the work as it lies here; nil for none
	Records []Recorded
}

// Statement is one thing that a check says, and what it is about.
type Statement struct {
	About string `json:"about"`
	What  string `json:"what"`
}

// Checked is what a receipt proves.
type Checked struct {
	Result  string `json:"result"`
	Outcome string `json:"outcome"` // of the gate, as the receipt has it
	Run     string `json:"run"`
	Head    string `json:"head"`
	// Signed is the fingerprint of the key, SignedBy as whom the reader knows it.
	Signed   string `json:"signed,omitempty"`
	SignedBy string `json:"signed_by,omitempty"`
	// Shown follows from the file and from what the reader knows: it was computed
	// here.
	Shown []Statement `json:"shown"`
	// Stated is what whoever made the receipt says, and nothing in it contradicts.
	Stated []Statement `json:"stated"`
	// Findings must not be. With one of them nothing else counts.
	Findings []Statement `json:"findings"`
	// Open is what this receipt leaves open, and says so.
	Open []Statement `json:"open"`
	// Unproved is what no receipt proves.
	Unproved []string `json:"unproved"`
}

// Vouched says that it holds, and not only by itself.
func (c *Checked) Vouched() bool { return c.Result == Holds }

var unproved = []string{
	"that the judge is right: a model can be wrong, and words in the work can have talked it round",
	"that the machine and its owner told the truth: a signature says who vouches for it, and no more",
	"that the kernel did what it said it did",
	"anything about files, and about criteria, that are not listed here",
}

// Verify holds a receipt against itself and against what the reader knows. It
// needs neither the workspace nor its records.
func Verify(r *Receipt, a Against) *Checked {
	c := &checker{b: &r.Body, out: &Checked{Outcome: r.Body.Decision.Outcome, Run: r.Record.Run, Head: r.Record.Head,
		Shown: []Statement{}, Stated: []Statement{}, Findings: []Statement{}, Open: []Statement{}, Unproved: unproved}}
	c.show("form", "it is written as conclave writes receipts, to the byte (format %d)", r.Body.Format)
	byHead := c.record(r, a.Head)
	bySigner := c.signature(r, a.Signers)
	c.criteria()
	c.workList()
	c.panel()
	c.checks()
	for i := range c.b.Judges {
		c.judge(i)
	}
	for _, s := range c.b.Stamps {
		c.state("stamped", "%s", s)
	}
	c.decision()
	c.work(a.Work)
	c.records(r, a.Records)
	switch {
	case len(c.out.Findings) > 0:
		c.out.Result = DoesNotHold
	case byHead || bySigner:
		c.out.Result = Holds
	default:
		c.out.Result = NotVouched
	}
	return c.out
}

// Unreadable is what a file proves that is no receipt.
func Unreadable(err *FormError) *Checked {
	return &Checked{Result: DoesNotHold, Shown: []Statement{}, Stated: []Statement{},
		Findings: []Statement{{"form", err.Error()}}, Open: []Statement{}, Unproved: unproved}
}

type checker struct {
	b   *Body
	out *Checked
}

func (c *checker) show(about, format string, args ...any) {
	c.out.Shown = append(c.out.Shown, Statement{about, fmt.Sprintf(format, args...)})
}

func (c *checker) state(about, format string, args ...any) {
	c.out.Stated = append(c.out.Stated, Statement{about, fmt.Sprintf(format, args...)})
}

func (c *checker) open(about, format string, args ...any) {
	c.out.Open = append(c.out.Open, Statement{about, fmt.Sprintf(format, args...)})
}

// maxFindings bounds what is said: a liar may have put in a hundred thousand.
const maxFindings = 50

func (c *checker) find(about, format string, args ...any) {
	switch n := len(c.out.Findings); {
	case n < maxFindings:
		c.out.Findings = append(c.out.Findings, Statement{about, fmt.Sprintf(format, args...)})
	case n == maxFindings:
		c.out.Findings = append(c.out.Findings, Statement{"more", "and more than can be told"})
	}
}

// many is a number of things.
func many(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// clean says whether fn finds nothing.
func (c *checker) clean(fn func()) bool {
	before := len(c.out.Findings)
	fn()
	return len(c.out.Findings) == before
}

// record: the head must follow from the body, and be the one that is known.
func (c *checker) record(r *Receipt, known string) (vouched bool) {
	if err := r.linked(); err != nil {
		c.find("record", "%v", err)
		return false
	}
	c.show("record", "the body's digest is in the last log record of run %s, and the head %s follows from it",
		r.Record.Run, r.Record.Head)
	switch known {
	case "":
		return false
	case r.Record.Head:
		c.show("head", "it is the head that you know: no byte of body and record has changed since the gate sealed it")
		return true
	}
	c.find("head", "you know the head %s, and the receipt leads to %s: it is another receipt, or was changed", known, r.Record.Head)
	return false
}

// signature: it must be over this file, and by a key that is allowed.
func (c *checker) signature(r *Receipt, signers *Signers) (vouched bool) {
	if r.Signature == "" {
		if signers != nil {
			c.find("signature", "there is none, and you ask for one by a key of %s", signers.name)
		} else {
			c.open("signature", "there is none: who made this receipt is not shown")
		}
		return false
	}
	message, err := r.signed()
	if err != nil {
		c.find("signature", "%v", err)
		return false
	}
	key, err := verifySignature(r.Signature, message)
	if err != nil {
		c.find("signature", "%v", err)
		return false
	}
	c.out.Signed = ssh.FingerprintSHA256(key)
	c.show("signature", "every byte of it is signed by the %s key %s", key.Type(), c.out.Signed)
	if signers == nil {
		c.open("signature", "whose key that is nobody here vouches for: name those you allow (--signers)")
		return false
	}
	who, line, err := signers.allow(key, c.b.Made)
	if err != nil {
		c.find("signature", "%v", err)
		return false
	}
	c.out.SignedBy = who
	c.show("signature", "the key is %s, by line %d of %s", who, line, signers.name)
	c.state("signature", "it was made %s, and the key was allowed then", moment(c.b.Made))
	return true
}
