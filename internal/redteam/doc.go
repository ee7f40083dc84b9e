// Package redteam goes for the secrets. Its tests plant secrets in every place
// that an evaluator, a player or a journal keeper must not reach, and try to
// get at them through many channels: with a real shell, with real Claude Code and
// Codex, and by the Agent Client Protocol with real Copilot CLI, Gemini CLI,
// opencode and Qwen Code, each in the room of its role, as root and as an ordinary
// user who owns the project and has a live session bus. In the rooms that are
// sealed but for a forwarder, Claude Code and Codex have a login of nobody's and
// play each role that may have one; the login must be in none of the files.
//
// Every attempt is first shown to succeed without a room, so that the test can
// fail; then it must fail in the room. `make redteam` prints the table of
// attempts, blocked and leaked.
//
// The package has no code outside its tests.
package redteam
