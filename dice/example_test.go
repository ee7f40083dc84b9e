package dice_test

import (
	"fmt"
	"os"
	"path/filepath"

	"conclave/dice"
)

// A table commits to its seed before the first roll; when the epoch has ended
// the seed is in the log, and anyone can roll everything again.
func Example() {
	dir, err := os.MkdirTemp("", "dice")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "dice-log.jsonl")
	log, err := dice.OpenLog(dice.Options{
		Path: path, SeedPath: filepath.Join(dir, "seed"),
		TestSeed: &dice.Seed{1, 2, 3}, // fixed, so that this example is the same every time; the log says so
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	dc := int64(12)
	line, err := log.Roll(dice.Request{Who: "bram-oatley", Purpose: "climb the weir", Expr: "1d20+2", DC: &dc})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(line.Who, "rolls", line.Canonical, "for", line.Results[0].Total)
	_ = log.End("the session is over")
	_ = log.Close()

	report, err := dice.VerifyFile(path)
	fmt.Println("verified:", report.OK(), report.Rolls, "roll", err)
	// Output:
	// bram-oatley rolls 1d20+2 for 7
	// verified: true 1 roll <nil>
}
