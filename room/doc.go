// Package room builds locked rooms: places that hold copies of exactly what a
// role may know, in which a program runs that can reach nothing else.
//
// Open makes the room from a Plan: an unguessable directory, mode 0700, under
// a base outside any project, with home, tmp, work and outbox below it, and in
// work the granted files. Launch (a Room is an agent.Launcher) starts a program
// in it. Nothing is inherited: no environment, no descriptor, no terminal.
//
// There are three levels. Sealed: user, mount, PID, IPC, network, UTS and
// cgroup namespaces of its own which hold the room and read-only system
// directories; Landlock (ABI 6 or later, no best effort) and seccomp on top;
// the only way out is one port on the room's own loopback, whose listening
// socket is handed to this process, so that Plan.Gateway answers it. Fenced:
// Landlock and seccomp over the system's own file tree, with the same
// namespaces but for the mounts where this system gives them, which the
// Enforcement says. Advisory: nothing.
//
// A sealed room whose way out leads on to hosts of a vendor (Plan.Forwards), in
// a stream that nobody here can read, is not called sealed: its level is
// "sealed but for a forwarder", and the Enforcement names the hosts. All its
// probe pairs are those of a sealed room, and it has no fallback.
//
// At every level but the last a keeper (init) stands over the program: PID 1,
// or where there is no PID namespace the parent of all that lose theirs.
// Whatever the program started is gone with it, with Close, and with this
// process, also when that is killed. No program can limit, slow down or stop a
// process of the person's: it may set limits, processors and priorities of its
// own alone.
//
// What is claimed comes from probe pairs alone. A witness with the room's
// identity and without its restrictions shows that a thing can be done; the
// process that is about to become the program shows that it cannot do it. A
// pair that is missing, whose control did not succeed, or whose attempt did,
// is a refusal: the program does not start (ErrLevel). There is no fallback
// from one level to another but by the Plan: Lower is the person's word,
// Fallback what the role may have on a system that cannot seal. Either stands
// in the Enforcement.
//
// A view of a project is mounted in a sealed room, and copied at other levels.
// Mounted it is a read-only overlay in which what the rule withholds does not
// exist, whatever becomes of the files behind the names; under root what
// belongs to the project's owner is readable for the room's user, and no more
// writable. The project is surveyed for each room, and watched as long as it is
// open: what comes into view and is withheld ends the programs in it, with an
// error that names it (ErrExposed). So does a watch that lost count.
//
// The room refuses to be filled with links, with files that are not regular,
// with symbolic links that leave the named work, and with files that have a
// further name outside it. A room is gone after Close; a room whose process
// died is removed when the next one is opened.
//
// The helpers that build a room from inside are this very program, started
// again: main and TestMain call Init before anything else.
//
// Stored: nothing but the room itself. On Linux all three levels exist, for
// root (one unprivileged user id per room) and for ordinary users. On macOS
// the sealed level is a Seatbelt profile, and counts only if its own probe
// pairs pass; elsewhere only the advisory level is to be had.
package room
