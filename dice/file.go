package dice

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"strings"

	"conclave/internal/atomicfile"
)

func readSeed(path string) (Seed, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Seed{}, err
	}
	return parseSeed(strings.TrimSpace(string(data)))
}

func writeSeed(path string, seed Seed) error {
	if path == "" {
		return errors.New("a dice log needs a path for its seed")
	}
	return atomicfile.Write(path, []byte(hex.EncodeToString(seed[:])+"\n"), 0o600)
}

// readLine reads up to the first line feed.
func readLine(r io.Reader) ([]byte, error) {
	raw, err := bufio.NewReader(r).ReadBytes('\n')
	return bytes.TrimSuffix(raw, []byte("\n")), err
}
