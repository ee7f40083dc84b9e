//go:build linux || darwin

package room

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// The helpers are this program, started again under helperName with one of
// these parts as its first argument. Orders come over a pipe, never on the
// command line, which others can read.
const (
	helperName = "conclave-room"

	partBuilder  = "builder" // makes the namespaces' inside; PID 1
	partInit     = "keeper"  // what the builder becomes: reaps, and ends with the room
	partStageTwo = "porter"  // restricts itself, shows it, becomes the program
	partWitness  = "witness" // shows what can be done without the room
	partDecoy    = "decoy"   // somebody else's process
	partNobody   = "nobody"  // is there for its user namespace
)

// terrain is what the probes try themselves on. All of it is made for one
// start and is gone afterwards.
type terrain struct {
	Token    string `json:"token"` // what the secrets say
	Dir      string `json:"dir"`   // a directory outside the room
	Socket   string `json:"socket"`
	Abstract string `json:"abstract"`
	TCP      string `json:"tcp"`
	UDP      string `json:"udp"`
	IPCKey   int    `json:"ipc_key"`
	Decoy    int    `json:"decoy"` // process id
	Host     string `json:"host"`
	// Spaces are the namespaces of this process by name.
	Spaces map[string]string `json:"spaces"`

	// Inside the room, but not granted to the program.
	InsideFile     string `json:"inside_file"`
	InsideDir      string `json:"inside_dir"`
	InsideAbstract string `json:"inside_abstract"`
	// Kept says that the parent of whoever tries is the room's init.
	Kept bool `json:"kept"`
}

func (t terrain) file() string { return t.Dir + "/secret" }

// report is what a helper says.
type report struct {
	Err    string   `json:"err,omitempty"`
	Before outcomes `json:"before,omitempty"`
	After  outcomes `json:"after,omitempty"`
	ABI    int      `json:"abi,omitempty"`
	Decoy  int      `json:"decoy,omitempty"`
	Ready  bool     `json:"ready,omitempty"`

	View    bool   `json:"view,omitempty"`    // what came along is the view's file system
	Covered string `json:"covered,omitempty"` // why a view is no overlay
}

// takeOrders reads all of a pipe.
func takeOrders(fd uintptr, v any) error {
	f := os.NewFile(fd, "orders")
	if f == nil {
		return errors.New("there are no orders")
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		return fmt.Errorf("read orders: %w", err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("read orders: %w", err)
	}
	return nil
}

// patience bounds every wait of a start: a helper that hangs is a refusal.
const patience = 20 * time.Second

// give writes orders into a pipe and closes it. A helper that has died makes
// the write fail, and is blamed when it is listened to.
func give(to *os.File, v any) error {
	defer to.Close()
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("give orders: %w", err)
	}
	if _, err := to.Write(b); err != nil && !errors.Is(err, syscall.EPIPE) {
		return fmt.Errorf("give orders: %w", err)
	}
	return nil
}

// helperArgs is the command line of a helper.
func helperArgs(part, mark string) []string {
	args := []string{helperName, part}
	if mark != "" {
		args = append(args, mark)
	}
	return args
}
