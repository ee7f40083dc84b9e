// Package greet writes the page that greets a visitor.
package greet

import (
	"html/template"
	"io"
)

var page = template.Must(template.New("greet").Parse(`<!doctype html>
<title>Good morning</title>
<p>Good morning, {{.}}.</p>
`))

// Page greets a visitor by the name that they typed.
func Page(w io.Writer, name string) error {
	return page.Execute(w, name)
}
