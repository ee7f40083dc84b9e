// Package send brings readings to the collector.
package send

import (
	"fmt"
	"net/http"
	"strings"
)

// attempts is how often a reading is sent while the collector is busy.
const attempts = 3

// Send sends one reading.
func Send(url, reading string) error {
	resp, err := http.Post(url, "text/plain", strings.NewReader(reading))
	if err != nil {
		return fmt.Errorf("send a reading: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("send a reading: the collector says %s", resp.Status)
	}
	return nil
}
