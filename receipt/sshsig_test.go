package receipt

import (
	"context"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"conclave/internal/sample"
)

// keygen runs the real ssh-keygen; without it there is nothing to prove here.
func keygen(t testing.TB, stdin string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("ssh-keygen", args...)
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TZ=UTC"}
	out, err := cmd.Output()
	return string(out), err
}

// newKey makes a key of a kind, and returns its file and its public line.
func newKey(t testing.TB, kind ...string) (file, public string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "key")
	args := append([]string{"-q", "-N", "", "-C", "", "-f", file, "-t"}, kind...)
	if _, err := keygen(t, "", args...); err != nil {
		t.Fatalf("ssh-keygen: %v (Debian: openssh-client)", err)
	}
	data, err := os.ReadFile(file + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	return file, strings.TrimSpace(string(data))
}

var keyKinds = [][]string{{"ed25519"}, {"rsa", "-b", "2048"}, {"ecdsa", "-b", "256"}, {"ecdsa", "-b", "384"}, {"ecdsa", "-b", "521"}}

// Ours verifies what ssh-keygen signs, with every kind of key and digest, and
// nothing else that ssh-keygen would sign.
func TestSignaturesOfSSHKeygen(t *testing.T) {
	const message = "a receipt\n"
	for _, kind := range keyKinds {
		key, public := newKey(t, kind...)
		for _, digest := range []string{"sha256", "sha512"} {
			sig, err := keygen(t, message, "-Y", "sign", "-O", "hashalg="+digest, "-n", Namespace, "-f", key)
			if err != nil {
				t.Fatal(err)
			}
			by, err := verifySignature(sig, []byte(message))
			if err != nil {
				t.Errorf("%v %s: %v", kind, digest, err)
			} else if !strings.HasPrefix(public, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(by)))) {
				t.Errorf("%v: the key is %s", kind, ssh.MarshalAuthorizedKey(by))
			}
			if _, err := verifySignature(sig, []byte(message+" ")); err == nil {
				t.Errorf("%v %s: it is over another message, too", kind, digest)
			}
		}
		other, err := keygen(t, message, "-Y", "sign", "-n", "git", "-f", key)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := verifySignature(other, []byte(message)); err == nil || !strings.Contains(err.Error(), `for "git"`) {
			t.Errorf("%v: a signature for git is taken: %v", kind, err)
		}
	}
}

// Every byte of a signature counts, whatever the key: those of the armour, too.
func TestChangedSignatures(t *testing.T) {
	const message = "a receipt\n"
	for i, kind := range keyKinds {
		key, _ := newKey(t, kind...)
		sig, err := keygen(t, message, "-Y", "sign", "-n", Namespace, "-f", key)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range sample.Pick(t, len(sig), 10, 40) {
			for _, c := range changedBytes(sig[at], i) {
				changed := sig[:at] + string(c) + sig[at+1:]
				if _, err := verifySignature(changed, []byte(message)); err == nil {
					t.Fatalf("%v: byte %d changed from %q to %q is not found", kind, at, sig[at], c)
				}
			}
		}
		for _, changed := range []string{"", sig + "\n", " " + sig, strings.TrimSpace(sig), strings.ReplaceAll(sig, "\n", "\r\n"),
			strings.Replace(sig, "\n", "\n\n", 1), sig + sig, sig[:len(sig)/2],
			strings.Replace(sig, "=\n-", "\n-", 1) + "x", rewrapped(t, sig, 64)} {
			if _, err := verifySignature(changed, []byte(message)); err == nil {
				t.Errorf("%v: %.60q… is taken", kind, changed)
			}
		}
	}
}

// changedBytes are some bytes that b is not: one bit, another letter of base64,
// and what breaks a line.
func changedBytes(b byte, seed int) []byte {
	out := []byte{b ^ 1, b ^ 0x20, 'A' + byte(seed), '=', '\n'}
	return slices.DeleteFunc(out, func(c byte) bool { return c == b })
}

func rewrapped(t *testing.T, sig string, columns int) string {
	t.Helper()
	blob, err := readArmour(sig)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for line := range slices.Chunk([]byte(base64.StdEncoding.EncodeToString(blob)), columns) {
		b.Write(append(line, '\n'))
	}
	return sigBegin + b.String() + sigEnd
}

// Weak and unknown signatures, each by a real key.
func TestRefusedSignatures(t *testing.T) {
	const message = "a receipt\n"
	weak, _ := newKey(t, "rsa", "-b", "1024")
	sig, err := keygen(t, message, "-Y", "sign", "-n", Namespace, "-f", weak)
	if err != nil {
		t.Skip("this ssh-keygen does not sign with 1024 bits:", err)
	}
	if _, err := verifySignature(sig, []byte(message)); err == nil || !strings.Contains(err.Error(), "2048") {
		t.Errorf("an RSA key of 1024 bits: %v", err)
	}
}

// The lines of allowed signers mean to us what they mean to ssh-keygen.
func TestAllowedSignersAgree(t *testing.T) {
	const message = "a receipt\n"
	key, public := newKey(t, "ed25519")
	_, other := newKey(t, "ed25519")
	sig, err := keygen(t, message, "-Y", "sign", "-n", Namespace, "-f", key)
	if err != nil {
		t.Fatal(err)
	}
	by, err := verifySignature(sig, []byte(message))
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	lines := []string{
		"mara@example.org " + public, "mara@example.org " + public + " a comment", "# note\n\nmara@example.org " + public,
		"mara@example.org,bram@example.org " + public, `"mara@example.org" ` + public, "*@example.org " + public,
		"mara@example.org " + other, "mara@example.org " + other + "\nmara@example.org " + public,
		`mara@example.org namespaces="git" ` + public, `mara@example.org namespaces="git,conclave-receipt@1" ` + public,
		`mara@example.org namespaces="conclave-*" ` + public, `mara@example.org namespaces="conclave-receipt@?" ` + public,
		`mara@example.org namespaces="!conclave-*,*" ` + public, `mara@example.org namespaces="*" ` + public,
		`mara@example.org valid-after="20260101Z" ` + public, `mara@example.org valid-after="20260401Z" ` + public,
		`mara@example.org valid-before="20260101Z" ` + public, `mara@example.org valid-before="202604010000Z" ` + public,
		`mara@example.org valid-after="20260301120000Z" ` + public, `mara@example.org valid-before="20260301120000Z" ` + public,
		`mara@example.org valid-after="20260301120001Z" ` + public, `mara@example.org valid-before="20260301115959Z" ` + public,
		`mara@example.org valid-after="20260101Z",valid-before="20260401Z",namespaces="*" ` + public,
		`mara@example.org cert-authority ` + public, `mara@example.org cert-authority,namespaces="*" ` + public,
	}
	for _, text := range lines {
		ours := false
		if s, err := ReadSigners("signers", []byte(text+"\n")); err == nil {
			_, _, err := s.allow(by, at)
			ours = err == nil
		}
		file := filepath.Join(t.TempDir(), "signers")
		if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		sigFile := filepath.Join(t.TempDir(), "sig")
		if err := os.WriteFile(sigFile, []byte(sig), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := keygen(t, message, "-Y", "verify", "-O", "verify-time="+at.Format("20060102150405Z"), "-f", file,
			"-I", "mara@example.org", "-n", Namespace, "-s", sigFile)
		if theirs := err == nil; theirs != ours {
			t.Errorf("%.90q: ssh-keygen says %v, we say %v", text, theirs, ours)
		}
	}
	for _, text := range []string{"", "# nobody", "mara@example.org", "mara@example.org ssh-ed25519", public,
		"mara@example.org unknown-option " + public, `mara@example.org namespaces="git ` + public,
		`mara@example.org valid-after="tomorrow" ` + public, `mara@example.org namespaces="a",,valid-after="20260101" ` + public,
		"mara@example.org ssh-rsa " + strings.Fields(public)[1], "mara@example.org no-touch-required=\"x\" " + public} {
		if _, err := ReadSigners("signers", []byte(text)); err == nil {
			t.Errorf("%.80q is read", text)
		}
	}
}

// What we sign with the file of a key, ssh-keygen verifies; a key in the workspace, or
// one that is not there, signs nothing.
func TestSignIsTaken(t *testing.T) {
	for _, kind := range keyKinds[:3] {
		key, public := newKey(t, kind...)
		r := someReceipt(t)
		fingerprint, err := Sign(context.Background(), r, key, t.TempDir(), func(string) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(fingerprint, "SHA256:") {
			t.Errorf("signed by %q", fingerprint)
		}
		theyVerify(t, r, public)
	}
	key, _ := newKey(t, "ed25519")
	for name, where := range map[string]string{"in the workspace": filepath.Dir(key), "": t.TempDir()} {
		file := key
		if name == "" {
			file = key + ".none"
		}
		if _, err := Sign(context.Background(), someReceipt(t), file, where, os.Getenv); err == nil {
			t.Errorf("a key %s (%s) is taken", name, file)
		}
	}
}

// theyVerify takes a written receipt apart as docs/receipt.md says, by its lines,
// and has ssh-keygen verify it.
func theyVerify(t *testing.T, r *Receipt, public string) {
	t.Helper()
	data, err := r.Write()
	if err != nil {
		t.Fatal(err)
	}
	var message, sig strings.Builder
	for line := range strings.Lines(string(data)) {
		if quoted, ok := strings.CutPrefix(line, `  "signature": "`); ok {
			sig.WriteString(strings.ReplaceAll(strings.TrimSuffix(quoted, "\",\n"), `\n`, "\n"))
		} else {
			message.WriteString(line)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sig"), []byte(sig.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	allowed := "mara@example.org namespaces=\"" + Namespace + "\" " + public + "\n"
	if err := os.WriteFile(filepath.Join(dir, "signers"), []byte(allowed), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := keygen(t, message.String(), "-Y", "verify", "-f", filepath.Join(dir, "signers"), "-I", "mara@example.org",
		"-n", Namespace, "-s", filepath.Join(dir, "sig")); err != nil {
		t.Errorf("ssh-keygen does not take what we signed: %v", err)
	}
}
