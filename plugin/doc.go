// Package plugin is what Conclave puts into Claude Code and Codex, and how it
// comes there and goes again without a trace of ours.
//
// # What it is
//
// One directory that both programs take for a plugin, inside of one that both
// take for a marketplace: manifests, the MCP server, hooks and skills. The words
// are files here; what names this program, its version and its path is made when
// it is written (Files).
//
// # What it stores
//
// Everything lies in one directory of the person's data: "market", and beside it
// "installed.json", the Ledger: which files were written with which digests,
// which directories were made for them, which clients were told, and what those
// had before. The ledger is written before the first file and before a client is
// told, so that whatever was cut can be taken away.
//
// # What it promises
//
// Writing twice is writing once. Taking away removes the files of the ledger whose
// bytes are still those that were written, then the directories that were made, if
// nothing of anybody else's is in them; a file that somebody has changed stays, and
// is named. What a client keeps by itself is not touched, and listed (Left).
//
// It starts no program: app tells the clients.
package plugin
