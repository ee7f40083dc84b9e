package table

import _ "embed"

// foldLines gives for each ASCII spelling the characters that fold to it:
// genfold.go wrote the file.
//
//go:embed fold.txt
var foldLines string

// foldExtra holds Latin letters that Unicode does not decompose.
//
//go:embed fold-extra.txt
var foldExtra string
