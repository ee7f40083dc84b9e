// Package gauge reads the files that the gauges write.
package gauge

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// Header returns the name of the station from the first line of a file.
func Header(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	line, err := bufio.NewReader(f).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("read the header of %s: %w", path, err)
	}
	name, ok := strings.CutPrefix(strings.TrimSpace(line), "station: ")
	if !ok {
		return "", fmt.Errorf("%s has no header", path)
	}
	return name, f.Close()
}
