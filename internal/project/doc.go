// Package project reads a tree of files as the people who work in it do: which
// file is source and which is a test, a fixture, an example, a document or a
// licence; what others wrote and what a program wrote; what the manifests
// declare and the lock files hold; which test belongs to which file by the
// habits of its language. It knows Go, Python, JavaScript and TypeScript, Rust
// and Java; of other languages it knows the names.
//
// # What it promises
//
// Open walks an fs.FS once and reads within Limits; nothing is written and
// nothing is run. Every fact bears the line it stands in. What is not literal
// (a version computed in setup.py, a dependency added by a plugin) is not
// guessed: it is absent from the model, and Manifest.Partial says that there
// may be more.
//
// # What it does not see
//
// Directories that hold other people's work or a program's (vendor,
// node_modules, dist …) are passed by: Has says of a name below them that it
// may be there. Where a limit was reached Looked says so; a statement of
// absence is then not to be made.
//
// Open starts goroutines to read and waits for them; the Project it returns is
// not changed by reading it, but its first questions fill tables: it is safe
// for concurrent use.
package project
