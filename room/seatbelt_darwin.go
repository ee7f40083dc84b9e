package room

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"conclave/agent"
)

// seatbeltHead is what every program needs to start. All else is denied unless
// it is allowed below.
const seatbeltHead = `(version 1)
(deny default)
(import "system.sb")
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(deny sysctl-read (sysctl-name-prefix "kern.proc"))
(allow file-read* process-exec
  (subpath "/usr") (subpath "/bin") (subpath "/sbin") (subpath "/System") (subpath "/Library/Apple")
  (subpath "/private/etc/ssl") (literal "/private/etc/localtime") (subpath "/private/var/db/timezone")
  (literal "/dev/null") (literal "/dev/zero") (literal "/dev/random") (literal "/dev/urandom"))
(allow file-write-data (literal "/dev/null") (literal "/dev/zero"))
`

// profile is the Seatbelt profile of a room.
func (r *Room) profile(self string) (string, error) {
	place, err := filepath.EvalSymlinks(r.place.Host)
	if err != nil {
		return "", fmt.Errorf("write profile: %w", err)
	}
	var b strings.Builder
	b.WriteString(seatbeltHead)
	for dir := filepath.Dir(place); ; dir = filepath.Dir(dir) {
		fmt.Fprintf(&b, "(allow file-read-metadata (literal %s))\n", quote(dir))
		if dir == "/" {
			break
		}
	}
	for _, d := range []string{agent.HomeDir, agent.TempDir, agent.WorkDir, agent.OutboxDir} {
		fmt.Fprintf(&b, "(allow file* process-exec (subpath %s))\n", quote(filepath.Join(place, d)))
	}
	for _, p := range append([]string{self}, r.plan.Programs...) {
		real, err := filepath.EvalSymlinks(p)
		if err != nil {
			return "", fmt.Errorf("write profile: %w", err)
		}
		fmt.Fprintf(&b, "(allow file-read* process-exec (subpath %s) (subpath %s))\n", quote(real), quote(p))
	}
	for _, d := range r.plan.Outside {
		fmt.Fprintf(&b, "(deny file* (subpath %s))\n", quote(d))
	}
	if r.gatewayServer != nil {
		fmt.Fprintf(&b, "(allow network-outbound (remote ip \"localhost:%d\"))\n", r.gatewayServer.port)
	}
	return b.String(), nil
}

// writeProfile puts the profile beside the room, not on a command line, where
// the room's path could be read.
func (r *Room) writeProfile(self string) (string, error) {
	text, err := r.profile(self)
	if err != nil {
		return "", err
	}
	path := filepath.Join(r.work.dir, "profile.sb")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("write profile: %w", err)
	}
	return path, nil
}

// quote writes a string as the profile language reads it.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// seatbeltMark says in a helper's environment which part it plays: the name
// under which sandbox-exec starts it is its path.
const seatbeltMark = "CONCLAVE_ROOM_PART"
