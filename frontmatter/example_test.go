package frontmatter_test

import (
	"fmt"

	"conclave/frontmatter"
)

// What is not touched stays as it was written, comments and spacing included.
func Example() {
	doc, err := frontmatter.Parse([]byte(`---
mode:   ship   # for now
phase: 2
---
# A retry helper

## Progress Log
- begun
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = doc.Set("phase", "3")
	_ = doc.AppendToSection("Progress Log", "- API design finished\n")
	fmt.Print(string(doc.Bytes()))
	// Output:
	// ---
	// mode:   ship   # for now
	// phase: 3
	// ---
	// # A retry helper
	//
	// ## Progress Log
	// - begun
	// - API design finished
}
