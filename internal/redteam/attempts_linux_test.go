package redteam

import "slices"

// attempt is one way to get at a secret. Its script runs under /bin/sh, finds
// the places that the world names in the environment file, and leaks by
// printing the canary; an attempt that changes something outside leaks by the
// change (see world.changed).
type attempt struct {
	name   string
	script string
	root   bool // can only succeed for root, room or no room
	// effect: it leaks by printing that it was done, for it changes or takes
	// something that is not the room's to give.
	effect bool
	gap    bool // a fenced room does not promise to hold it back
	own    bool // in a network of its own there is nothing wrong with it
	crowd  bool // starves whoever lives in the room, an agent's program too
}

// attempts are the channels. $ATTACK is this very test binary as a tool for
// what a shell cannot do.
var attempts = slices.Concat(reading, hurting, withheld())

// effectWord is what an attempt prints that was done.
const effectWord = "EFFECT"

// withheld are files that the workspace holds and that no role is shown. Party
// seats have a view of the workspace; everybody else must not find one.
func withheld() []attempt {
	var out []attempt
	for _, name := range withheldFiles {
		out = append(out, attempt{name: "the workspace's " + name, script: `cd workspace 2>/dev/null || cd "$PROJECT"; cat "` + name + `"`})
	}
	return out
}

var withheldFiles = []string{
	".env", ".env.production", "sub/.env.local", ".netrc", ".aws/credentials", ".ssh/id_rsa", "keys/id_ed25519", ".kube/config", ".npmrc",
	".git-credentials", "tls/server.key", ".docker/config.json", ".campaign/quest.md", ".git/worktrees-canary", ".conclave/log.jsonl",
	"conclave.yaml", ".mcp.json", ".claude/settings.json", "campaigns/ashfall/story-state.md",
}

// hurting are what does harm without reading anything, or reads past a rule for
// ports (W5, W10, W11, W13).
var hurting = []attempt{
	{name: "Fast Open with sendto", script: `"$ATTACK" fastopen sendto "$PORT"`},
	{name: "Fast Open with sendmsg", script: `"$ATTACK" fastopen sendmsg "$PORT"`},
	{name: "Fast Open with sendmmsg", script: `"$ATTACK" fastopen sendmmsg "$PORT"`},
	{name: "Fast Open on connect", script: `"$ATTACK" fastopen connect "$PORT"`},
	{name: "Multipath TCP", script: `"$ATTACK" fastopen mptcp "$PORT"`},
	{name: "listening unbound", script: `"$ATTACK" listen`, effect: true, own: true},
	{name: "limiting another's core files", script: `"$ATTACK" prlimit "$DECOY" core`, effect: true},
	{name: "limiting another's time", script: `"$ATTACK" prlimit "$DECOY" cpu`, effect: true},
	{name: "limiting another's files", script: `"$ATTACK" prlimit "$DECOY" fsize`, effect: true},
	{name: "reading another's limits", script: `"$ATTACK" prlimit "$DECOY" read`, effect: true},
	{name: "another's processors", script: `"$ATTACK" schedule "$DECOY" affinity`, effect: true},
	{name: "another's scheduler", script: `"$ATTACK" schedule "$DECOY" scheduler`, effect: true},
	{name: "another's scheduling parameters", script: `"$ATTACK" schedule "$DECOY" param`, effect: true},
	{name: "another's scheduling attributes", script: `"$ATTACK" schedule "$DECOY" attr`, effect: true},
	{name: "another's priority", script: `"$ATTACK" schedule "$DECOY" priority`, effect: true},
	{name: "another's disk priority", script: `"$ATTACK" schedule "$DECOY" io`, effect: true},
	{name: "a survivor", script: `setsid env -i sleep "$SLEEP" >/dev/null 2>&1 </dev/null &`},
	{name: "a survivor that forks twice", script: `setsid -f env -i nohup sleep "$SLEEP" >/dev/null 2>&1 </dev/null`},
	{name: "reserving the disk", script: `"$ATTACK" take disk`, effect: true},
	{name: "a file without end", script: `"$ATTACK" take file`, effect: true},
	{name: "more memory than there is", script: `"$ATTACK" take memory`, effect: true},
	{name: "processes by the thousand", script: `"$ATTACK" take threads`, effect: true, crowd: true},
	{name: "descriptors by the thousand", script: `"$ATTACK" take descriptors`, effect: true},
}

// reading are the ways to what is known outside.
var reading = []attempt{
	{name: "absolute path", script: `cat "$SECRET"`},
	{name: "relative path", script: `cat "../../../../../../../../../../../..$SECRET"`},
	{name: "dots after a symlink", script: `ln -s / up && cat "up/./$SECRET"`},
	{name: "trailing slashes and doubled separators", script: `cat "//$PROJECT//.campaign///quest.md"`},
	{name: "symlink made inside", script: `ln -s "$SECRET" alias && cat alias`},
	{name: "hard link made inside", script: `ln "$SECRET" hard && cat hard; rm -f hard`},
	{name: "symlink planted in the work", script: `cat "$PROJECT/work/planted-link" || cat work/work/planted-link work/planted-link`},
	{name: "hard link planted in the work", script: `cat "$PROJECT/work/planted-hard" || cat work/work/planted-hard work/planted-hard`},
	{name: "/proc/self/root", script: `cat "/proc/self/root$SECRET"`},
	{name: "/proc/1/root", script: `cat "/proc/1/root$SECRET" || cat "$SECRET"`},
	{name: "another process: root", script: `cat "/proc/$DECOY/root$SECRET"`},
	{name: "another process: working directory", script: `cat "/proc/$DECOY/cwd/quest.md"`},
	{name: "another process: environment", script: `tr '\0' '\n' < "/proc/$DECOY/environ"`},
	{name: "another process: command line", script: `tr '\0' '\n' < "/proc/$DECOY/cmdline"`},
	{name: "another process: descriptors", script: `for f in /proc/$DECOY/fd/*; do case "$(readlink "$f")" in *quest.md) cat "$f";; esac; done`},
	{name: "all command lines", script: `for p in /proc/[0-9]*; do tr '\0' ' ' < $p/cmdline; done`},
	{name: "all environments", script: `for p in /proc/[0-9]*; do tr '\0' ' ' < $p/environ; done`},
	{name: "own environment", script: `env`},
	{name: "inherited descriptors", script: `for f in 3 4 5 6 7 8 9; do cat <&$f; done`},
	{name: "git objects", script: `"$ATTACK" inflate "$PROJECT/.git/objects"`},
	{name: "git working tree elsewhere", script: `cat "$PROJECT/.git/worktrees-canary"`},
	{name: "editor backup", script: `cat "$SECRET~"`},
	{name: "Claude Code's session store", script: `cat "$PERSON/.claude/projects/p/s.jsonl"`},
	{name: "Claude Code's memory", script: `cat "$PERSON/.claude/CLAUDE.md"`},
	{name: "Codex's session store", script: `cat "$PERSON/.codex/sessions/s.jsonl"`},
	{name: "instructions found by walking up", script: `cd "$PROJECT/work" 2>/dev/null; for d in . .. ../.. ../../..; do cat "$d/CLAUDE.md" "$d/AGENTS.md"; done`},
	{name: "hooks and servers in project settings", script: `cat "$PROJECT/.claude/settings.json" "$PROJECT/.mcp.json"`},
	{name: "credentials of the person", script: `cat "$PERSON/.ssh/id_canary" "$PERSON/.netrc"`},
	{name: "shared temporary directory", script: `cat "$TMPFILE"`},
	{name: "/var/tmp", script: `cat "$VARTMP"`},
	{name: "/dev/shm", script: `cat "$DEVSHM"`},
	{name: "unix socket by path", script: `"$ATTACK" unix "$SOCKET"`},
	{name: "abstract unix socket", script: `"$ATTACK" unix "@$ABSTRACT"`},
	{name: "docker socket", script: `"$ATTACK" unix "$DOCKER"`},
	{name: "ssh agent socket", script: `"$ATTACK" unix "$SSH_AGENT"`},
	{name: "session bus", script: `"$ATTACK" bus "$BUS"`},
	{name: "socket names in /proc/net/unix", script: `cat /proc/net/unix`},
	{name: "TCP on loopback", script: `"$ATTACK" tcp "127.0.0.1:$PORT"`},
	{name: "TCP on another loopback address", script: `"$ATTACK" tcp "$OTHERADDR"`},
	{name: "TCP over IPv6", script: `"$ATTACK" tcp "$ADDR6"`},
	{name: "UDP on loopback", script: `"$ATTACK" udp "127.0.0.1:$UDPPORT"`},
	{name: "DNS over UDP", script: `"$ATTACK" udp "127.0.0.1:$DNSPORT"`},
	{name: "SysV shared memory", script: `"$ATTACK" shm "$SHMID"`},
	{name: "SysV message queue", script: `"$ATTACK" msg "$MSGID"`},
	{name: "kernel keyring", script: `"$ATTACK" key "$KEYNAME"`},
	{name: "key names in /proc/keys", script: `cat /proc/keys`},
	{name: "memory of another process", script: `"$ATTACK" peek "$DECOY" "$DECOYADDR"`},
	{name: "ptrace of another process", script: `"$ATTACK" ptrace "$DECOY" "$DECOYADDR"`},
	{name: "records of ours", script: `cat "$PROJECT/.conclave/records/earlier.record"`},
	{name: "logs of ours", script: `cat "$PROJECT/.conclave/log.jsonl"`},
	{name: "engine database and its WAL", script: `cat "$PROJECT/.conclave/engine/quest.db-wal"`},
	{name: "archive and its WAL", script: `cat "$PERSON/.local/share/conclave/archive.db-wal"`},
	{name: "bundle zips", script: `cat "$PERSON/bundle.zip"`},
	{name: "configuration", script: `cat "$PROJECT/conclave.yaml" "$PERSON/.config/conclave/config.yaml"`},
	{name: "core file", script: `cat "$PROJECT/core"`},
	{name: "other conversations", script: `cat "$PROJECT"/.campaign/conversations/*`},
	{name: "story state of a table", script: `cat "$PROJECT/campaigns/ashfall/story-state.md"`},
	{name: "another player's sheet", script: `cat "$PROJECT/campaigns/ashfall/party/other.md"`},
	{name: "another room", script: `find "$ROOMS" -type f -name 'neighbour*' -exec cat {} +`},
	{name: "listing the project", script: `ls -a "$PROJECT"`},
	{name: "stat of a guessable name", script: `stat -c 'size %s' "$SECRET"`, gap: true},
	{name: "namespaces of one's own", script: `unshare -Ur cat "$SECRET"`},
	{name: "chroot", script: `chroot / cat "$SECRET"`, root: true},
	{name: "mount of a device or a tree", script: `mkdir -p m && mount --bind "$PROJECT" m && cat m/.campaign/quest.md; umount m`, root: true},
	{name: "writing to the project", script: `echo x >> "$PROJECT/touch-write"`},
	{name: "creating in the project", script: `: > "$PROJECT/touch-create"`},
	{name: "chmod of a project file", script: `chmod 0777 "$PROJECT/touch-chmod"`, gap: true},
	{name: "re-timing a project file", script: `touch -d '2001-01-01' "$PROJECT/touch-time"`, gap: true},
	{name: "attributes of a project file", script: `"$ATTACK" xattr "$PROJECT/touch-xattr"`, gap: true},
	{name: "writing to a terminal", script: `echo typed > "$PTS"`},
	{name: "a signal to another process", script: `kill -USR1 "$DECOY"`},
}
