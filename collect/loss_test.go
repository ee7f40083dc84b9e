package collect

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"conclave/internal/sample"
	"conclave/internal/sessiongen"
	"conclave/record"
	"conclave/transcript"
)

// The test binary is also the two processes of the loss test.
const childEnv = "CONCLAVE_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "write":
		childWrite(os.Args[1], os.Args[2], os.Args[3])
	case "follow":
		childFollow(os.Args[1], os.Args[2], len(os.Args) > 3)
	default:
		sample.Tests(9)
		os.Exit(m.Run())
	}
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// childWrite copies one file to the end of another at full speed, in chunks
// that break characters and lines anywhere. It writes as many bytes as each
// line on its stdin says.
func childWrite(from, to, seed string) {
	src, err := os.Open(from)
	fatal(err)
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	fatal(err)
	n, err := strconv.ParseUint(seed, 10, 64)
	fatal(err)
	r := rand.New(rand.NewPCG(n, 7))
	buf := make([]byte, 1<<20)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		budget, err := strconv.ParseInt(in.Text(), 10, 64)
		fatal(err)
		for budget > 0 {
			size := 1 + r.IntN(5000)
			if r.IntN(100) == 0 {
				size = 1 + r.IntN(len(buf))
			}
			got, err := src.Read(buf[:min(int64(size), budget)])
			if err == io.EOF {
				break
			}
			fatal(err)
			_, err = dst.Write(buf[:got])
			fatal(err)
			budget -= int64(got)
		}
		fmt.Println("ok")
	}
	fatal(dst.Close())
}

func childFollow(workspace, root string, once bool) {
	c, err := New(Options{Workspace: workspace, Roots: []string{root}, Program: "test", Once: once})
	fatal(err)
	fatal(c.Run(context.Background()))
	if b := c.Balance(); !b.OK() || b.BytesOnDisk != b.BytesRead {
		fatal(fmt.Errorf("not accounted for: %+v", b))
	}
}

func child(t testing.TB, kind string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), childEnv+"="+kind)
	cmd.Stderr = os.Stderr
	t.Cleanup(func() {
		if cmd.Process != nil && cmd.ProcessState == nil { // the test ended before it did
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return cmd
}

// content writes the file that is to be followed: a generated session with
// what trips careless readers, and one line of the given length in its middle.
func content(t testing.TB, path string, bytes int64, long int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	part := func(seed uint64) {
		if _, err := sessiongen.Write(w, sessiongen.Options{Seed: seed, Bytes: bytes / 2, Session: sessionA, Hard: true}); err != nil {
			t.Fatal(err)
		}
	}
	part(1)
	fmt.Fprintf(w, "%s\n\n\xff\xfe broken \u2028 \u2029 \u0085 \f \v characters\n", line("ls", "a\u2028b\u2029c\u0085d"))
	if long > 0 {
		w.WriteString(`{"type":"user","uuid":"long","sessionId":"` + sessionA + `","message":{"role":"user","content":"`)
		for n := 0; n < long; n += 1 << 10 {
			w.WriteString(strings.Repeat("é\u2028", 1<<10/5))
		}
		w.WriteString("\"}}\n")
	}
	part(2)
	w.WriteString(line("last", "no newline"))
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// loss lets a process write while another follows and is killed ten times, and
// compares what is on the record with the file. It returns the largest memory
// of the follower in bytes.
func loss(t *testing.T, size int64, long int) (peak int64) {
	p := newPlace(t)
	from := filepath.Join(t.TempDir(), "content")
	content(t, from, size, long)
	info, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	to := p.main(sessionA)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	writer := child(t, "write", from, to, "3")
	in, err := writer.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	const kills = 10
	part := info.Size()/(kills+1) + 1
	path, err := record.Path(p.workspace, runA)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	said := bufio.NewReader(out)
	for range kills {
		follower := child(t, "follow", p.workspace, p.root)
		before := fileSize(path)
		if err := follower.Start(); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(in, part) // the writer runs from here on
		goal := before + 1 + r.Int64N(part)
		written := make(chan error, 1)
		go func() {
			_, err := said.ReadString('\n')
			written <- err
		}()
		looks := 0 // since all was written: within a long line nothing grows
		untilWithin(t, 20*time.Second+time.Duration(size>>24)*time.Second, "the record to grow", func() bool {
			if len(written) > 0 {
				looks++
			}
			return fileSize(path) >= goal || looks > 100
		})
		if err := follower.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		err := follower.Wait()
		if state := follower.ProcessState; state.Success() {
			t.Fatalf("the follower ended by itself: %v", err)
		}
		peak = max(peak, rss(follower))
		if err := <-written; err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprintln(in, info.Size())
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, said); err != nil {
		t.Fatal(err)
	}
	if err := writer.Wait(); err != nil {
		t.Fatal(err)
	}
	follower := child(t, "follow", p.workspace, p.root, "once")
	if err := follower.Run(); err != nil {
		t.Fatal(err)
	}
	compare(t, from, path)
	return max(peak, rss(follower))
}

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// compare puts the raw bytes of the entries together again.
func compare(t *testing.T, file, path string) {
	t.Helper()
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	sum := sha256.New()
	check := transcript.NewChecker()
	var got int64
	first := true
	for r.Next() {
		f := r.Frame()
		if f.Kind != record.KindLog {
			continue
		}
		if v := check.Line(f.Payload); v != nil {
			t.Fatal(v)
		}
		e, err := transcript.ParseEntry(f.Payload)
		if err != nil || e.Raw == nil {
			continue
		}
		if !first {
			sum.Write([]byte{'\n'})
			got++
		}
		first = false
		sum.Write(e.Raw)
		got += int64(len(e.Raw))
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := sha256.New()
	n, err := io.Copy(want, f)
	if err != nil {
		t.Fatal(err)
	}
	if got != n || !bytes.Equal(sum.Sum(nil), want.Sum(nil)) {
		t.Fatalf("%d bytes on the record, %d in the file, or not the same ones", got, n)
	}
}

// The union of the entries is the file, exactly once.
func TestNoLossWhenKilledTenTimes(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	size, long := int64(8<<20), 3<<20
	if testing.Short() || racing {
		size, long = 2<<20, 1<<20
	}
	loss(t, size, long)
}
