package receipt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"conclave/internal/ownpath"
)

// patience is how long a person may take to type a passphrase or to touch a key.
const patience = 5 * time.Minute

// signingEnvironment is what ssh-keygen gets of the person's: how it finds the
// agent, and how it asks for a passphrase.
var signingEnvironment = []string{"HOME", "SSH_AUTH_SOCK", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "SSH_SK_HELPER",
	"DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "TERM", "LANG", "SYSTEMROOT", "USERPROFILE"}

// Sign puts a signature on a receipt, by ssh-keygen and with the person's key: a
// private key's file, or the .pub of one that their agent has. Neither program
// nor key may lie in the workspace. It returns the key's fingerprint.
func Sign(ctx context.Context, r *Receipt, key, workspace string, getenv func(string) string) (string, error) {
	message, err := r.signed()
	if err != nil {
		return "", err
	}
	armour, err := signBytes(ctx, message, key, workspace, getenv)
	if err != nil {
		return "", fmt.Errorf("sign the receipt: %w", err)
	}
	by, err := verifySignature(armour, message)
	if err != nil {
		return "", fmt.Errorf("sign the receipt: what ssh-keygen returned is not taken: %w", err)
	}
	r.Signature = armour
	return ssh.FingerprintSHA256(by), nil
}

func signBytes(
	ctx context.Context, message []byte, key, workspace string, getenv func(string) string,
) (string, error) {
	if !filepath.IsAbs(key) {
		return "", fmt.Errorf("the key %s is no absolute path", key)
	}
	if _, err := os.Stat(key); err != nil {
		return "", err
	}
	if workspace != "" && ownpath.Inside(workspace, key) {
		return "", fmt.Errorf("the key %s lies in this workspace: whoever wrote the workspace has it", key)
	}
	program, dirs, err := ownpath.Find("ssh-keygen", workspace)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-Y", "sign", "-n", Namespace, "-f", key)
	cmd.Env = []string{"PATH=" + strings.Join(dirs, string(os.PathListSeparator))}
	for _, name := range signingEnvironment {
		if value := getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	var out, told bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(message), &out, &told
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", errors.New("ssh-keygen: " + strings.TrimSpace(lastLine(told.String())+": "+err.Error()))
	}
	return strings.ReplaceAll(out.String(), "\r\n", "\n"), nil
}

// lastLine is what a program said last: before it, ssh-keygen says what it does.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
