package session_test

import (
	"fmt"
	"os"
	"path/filepath"

	"conclave/session"
)

// A file is identified, and its lines are mapped to items of the nine types,
// whichever program wrote it.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "7c1b2d7e-0f9c-4f59-9d5c-0d6f3a7f2b11.jsonl")
	line := `{"type":"user","message":{"role":"user","content":"Where is the dragon?"}}`
	if err := os.WriteFile(path, []byte(line+"\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}

	file, err := session.Identify(path, "", false)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(file.Kind.Name, file.Source, file.Session)

	mapper := file.Kind.NewMapper(file, session.Options{})
	for _, item := range mapper.Append(nil, []byte(line)) {
		fmt.Println(item.Type)
	}

	// Output:
	// claude main 7c1b2d7e-0f9c-4f59-9d5c-0d6f3a7f2b11
	// user_message
}
