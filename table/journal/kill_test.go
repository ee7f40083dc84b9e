package journal

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"conclave/table"
)

// TestKilledJournal kills a process that appends entry after entry. The next one
// does its last intent again: every entry is there once, in order, whole.
func TestKilledJournal(t *testing.T) {
	if ws := os.Getenv("TABLE_TEST_WORKSPACE"); ws != "" {
		fmt.Fprintln(os.Stderr, appendForever(ws))
		os.Exit(1)
	}
	c := newCampaign(t, nil)
	for round := range 3 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledJournal$")
		cmd.Env = append(os.Environ(), "TABLE_TEST_WORKSPACE="+c.Workspace)
		out, err := cmd.StdoutPipe()
		ok(t, err)
		ok(t, cmd.Start())
		n := 0
		for sc := bufio.NewScanner(out); sc.Scan(); n++ {
			if n == 10+7*round {
				ok(t, cmd.Process.Kill())
			}
		}
		cmd.Wait()
		if n < 10 {
			t.Fatalf("only %d entries", n)
		}
	}
	next, err := finishLast(c.Campaign)
	ok(t, err)
	data, err := os.ReadFile(c.host("party/tilda-brannock-journal.md"))
	ok(t, err)
	_, entries := table.SplitJournal(string(data))
	eq(t, "entries", len(entries), next)
	for i, e := range entries {
		want := Entry{Title: fmt.Sprint("Entry ", i)}.Text()
		if i < len(entries)-1 {
			want += "\n"
		}
		eq(t, fmt.Sprint(i), e, want)
	}
}

// intent is what a flow would keep in its log.
type intent struct {
	Number int
	Append Append
}

// finishLast does the last intent again and says which number comes next.
func finishLast(c *table.Campaign) (next int, err error) {
	data, err := c.Root.Read("intent.json", 0)
	if os.IsNotExist(err) {
		return 0, nil
	}
	var last intent
	if err == nil {
		err = json.Unmarshal(data, &last)
	}
	if err == nil {
		_, err = last.Append.Do(c.Party)
	}
	return last.Number + 1, err
}

func appendForever(ws string) error {
	c, err := table.OpenCampaign(ws, "ash")
	if err != nil {
		return err
	}
	n, err := finishLast(c)
	for ; err == nil; n++ {
		it := intent{Number: n}
		if it.Append, err = PlanAppend(c.Party, "tilda-brannock", "Tilda Brannock", Entry{Title: fmt.Sprint("Entry ", n)}); err != nil {
			return err
		}
		data, _ := json.Marshal(it)
		if err = c.Root.Write("intent.json", data); err != nil {
			return err
		}
		if out, err := it.Append.Do(c.Party); err != nil || out != Appended {
			return fmt.Errorf("entry %d: %s, %v", n, out, err)
		}
		fmt.Println(n)
	}
	return err
}
