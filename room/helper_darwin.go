package room

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Descriptors of the helpers.
const (
	fdOrders = 3
	fdTalk   = 4
	fdWord   = 5
)

// beHelper does a helper's work in a helper process, and does not return.
func beHelper() {
	part := os.Getenv(seatbeltMark)
	if part == "" {
		return
	}
	os.Unsetenv(seatbeltMark)
	var err error
	switch part {
	case partStageTwo:
		err = runStageTwo()
	case partWitness:
		err = witness()
	case partDecoy:
		_, _ = os.Stdin.Read(make([]byte, 1))
	default:
		err = fmt.Errorf("part %q is not known", part)
	}
	if err != nil {
		say(report{Err: err.Error()})
	}
	os.Exit(1)
}

func say(r report) {
	b, err := json.Marshal(r)
	if err != nil {
		b = []byte(`{"err":"cannot put a report into words"}`)
	}
	_, _ = unix.Write(fdTalk, append(b, '\n')) // nobody is left to tell
}

// runStageTwo is already confined: it shows that, and becomes the program.
func runStageTwo() error {
	var o seatbeltOrders
	if err := takeOrders(fdOrders, &o); err != nil {
		return err
	}
	for fd := 3; fd < 64; fd++ {
		unix.CloseOnExec(fd)
	}
	unix.Umask(0o077)
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}); err != nil {
		return fmt.Errorf("limit core files: %w", err)
	}
	say(report{After: try(allAttempts(), o.Try, &o.Terrain)})
	b := make([]byte, 8)
	n, err := unix.Read(fdWord, b)
	if err != nil || string(b[:max(n, 0)]) != "go" {
		return errors.New("the word was no")
	}
	if err := os.Chdir(o.Command.Dir); err != nil {
		return fmt.Errorf("start %s: its working directory: %w", o.Command.Path, err)
	}
	err = syscall.Exec(o.Command.Path, append([]string{o.Command.Path}, o.Command.Args...), o.Command.Env)
	return fmt.Errorf("start %s: %w", o.Command.Path, err)
}

// witness shows what this user can do without a profile.
func witness() error {
	var o seatbeltOrders
	if err := takeOrders(fdOrders, &o); err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := &exec.Cmd{Path: self, Args: append(helperArgs(partDecoy, ""), o.Terrain.Token),
		Env: []string{seatbeltMark + "=" + partDecoy}, Stdin: r}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the decoy: %w", err)
	}
	defer func() { w.Close(); _ = cmd.Wait() }()
	o.Terrain.Decoy = cmd.Process.Pid
	say(report{Decoy: cmd.Process.Pid})
	say(report{Before: try(allAttempts(), o.Try, &o.Terrain)})
	_, _ = unix.Read(fdWord, make([]byte, 1)) // until the parent hangs up
	return nil
}

func allAttempts() []attempt {
	return []attempt{
		{"read a file outside", byWitness, must, none, readOutside},
		{"see a file outside", byWitness, must, none, statOutside},
		{"list a directory outside", byWitness, must, none, listOutside},
		{"write a file outside", byWitness, must, none, writeOutside},
		{"change the mode of a file outside", byWitness, must, none, chmodOutside},
		{"change the time of a file outside", byWitness, must, none, utimeOutside},
		{"connect to a TCP port outside", byWitness, must, none, func(t *terrain) error { return reach("tcp4", t.TCP) }},
		{"exchange UDP datagrams outside", byWitness, must, none, udpOutside},
		{"connect to a socket outside", byWitness, must, none, func(t *terrain) error { return reach("unix", t.Socket) }},
		{"signal a process outside", byWitness, must, none, func(t *terrain) error { return unix.Kill(t.Decoy, 0) }},
		{"read a command line outside", byWitness, must, none, readCommandLine},
	}
}

func reach(network, addr string) error {
	c, err := net.DialTimeout(network, addr, 2*time.Second)
	if err != nil {
		return err
	}
	return c.Close()
}

func udpOutside(t *terrain) error {
	c, err := net.DialTimeout("udp4", t.UDP, 2*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(2 * time.Second)); err != nil {
		return err
	}
	if _, err := c.Write([]byte(t.Token)); err != nil {
		return err
	}
	b := make([]byte, 256)
	n, err := c.Read(b)
	if err != nil {
		return err
	}
	if string(b[:n]) != udpAnswer+t.Token {
		return errOther
	}
	return nil
}

func readCommandLine(t *terrain) error {
	b, err := unix.SysctlRaw("kern.procargs2", t.Decoy)
	if err != nil {
		return err
	}
	if !bytes.Contains(b, []byte(t.Token)) {
		return errOther
	}
	return nil
}
