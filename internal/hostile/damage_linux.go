package hostile

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"hash/crc32"
	"io"
	"os"
	"strings"
	"sync"
)

// damages are files of ours that somebody broke, or made up.
func damages() []Workspace {
	garbage := strings.Repeat("\x00\xff\xfe{[\"\x1b[2J", 4000)
	return []Workspace{
		{Name: "damaged: records", Touches: []string{record}, plant: damagedRecords,
			Careless: "! cmp -s " + record + " ../outside/stock/plain.record && echo ALIVE"},
		{Name: "damaged: garbage for every file of ours", Touches: append([]string{quest, story, database}, runPlaces...),
			Careless: "grep -q '\\[2J' " + record + " && echo ALIVE",
			plant: each(append([]string{quest, story, sheet, diceLog, config, profile, ".conclave/tables/weir/log/00000002-commit.json",
				".conclave/tables/weir/saves/dusk/save.json"}, runPlaces...),
				func(p Place, name string) error { return p.write(name, garbage, 0o644) })},
		{Name: "damaged: empty files", Touches: append([]string{quest, story, database}, runPlaces...),
			Careless: "test -e " + record + " -a ! -s " + record + " && echo ALIVE",
			plant: each(append([]string{quest, story, sheet, diceLog, config, profile, pack, ".conclave/tables/weir/log/00000002-commit.json"},
				runPlaces...), func(p Place, name string) error { return p.write(name, "", 0o644) })},
		{Name: "damaged: a bundle that climbs and swells", Touches: []string{bundleFile, ".conclave/bundles/"},
			plant: steps(func(p Place) error { return p.zip(bundleFile, "debug_bundle/") },
				func(p Place) error { return p.zip(".conclave/bundles/x.zip", "debug_bundle/") }),
			Careless: "grep -q 'climbed' " + bundleFile + " && echo ALIVE"},
		{Name: "damaged: a pack that climbs and swells", Touches: []string{packFile},
			plant: func(p Place) error { return p.zip(packFile, "harbour/") }, Careless: "grep -q 'climbed' " + packFile + " && echo ALIVE"},
		{Name: "damaged: a dice log", Touches: []string{diceLog}, plant: replaced(diceLog, `"roll"`, `"rolL"`),
			Careless: "grep -q rolL " + diceLog + " && echo ALIVE"}, // T6
		{Name: "damaged: a state that climbs", Touches: []string{".conclave/profiles/state.json"},
			plant:    write(".conclave/profiles/state.json", climbingState),
			Careless: "grep -q '\\.\\./\\.\\./' .conclave/profiles/state.json && echo ALIVE"},
		{Name: "damaged: a log that climbs", Touches: []string{".conclave/tables/weir/log/"},
			Careless: "grep -rq '\\.\\./outside' .conclave/tables/weir/log && echo ALIVE",
			plant: steps(replaced(".conclave/tables/weir/log/00000002-commit.json", `"run": "`, `"run": "../../../outside/`),
				replaced(".conclave/tables/weir/saves/dusk/save.json", `"name":"dusk"`, `"name":"../../../../outside"`))},
		{Name: "damaged: databases with a schema of somebody else's", Touches: []string{database, "archive.db"},
			plant: steps(stocked("hostile.db", database), stocked("hostile.db", "archive.db"),
				stocked("hostile.db", ".conclave/engine/table-weir.db")), Careless: "grep -aq 'CREATE TRIGGER' archive.db && echo ALIVE"},
		{Name: "damaged: front matter without an end", Touches: []string{quest, profile, pack},
			plant: each([]string{quest, profile, pack, story}, func(p Place, name string) error {
				return p.write(name, "---\nphase: 3\n"+strings.Repeat("k: |\n  x\n", 100000), 0o644)
			}), Careless: "test $(grep -c '^---' " + quest + ") = 1 && echo ALIVE"},
		{Name: "damaged: numbers without an end", Touches: []string{config, quest, session},
			plant: steps(write(config, "budget: {tokens: "+strings.Repeat("9", 1<<20)+", usd: .inf}\n"),
				replaced(quest, "phase: 3", "phase: "+strings.Repeat("9", 1<<20)),
				write(session, strings.ReplaceAll(sessionText("x"), `"input_tokens":1`, `"input_tokens":`+strings.Repeat("9", 1<<20)))),
			Careless: "grep -q 99999999 " + config + " && echo ALIVE"},
	}
}

// replaced changes a text in a file.
func replaced(name, from, to string) func(Place) error {
	return func(p Place) error {
		data, err := os.ReadFile(p.path(name))
		if err != nil {
			return err
		}
		return p.write(name, strings.ReplaceAll(string(data), from, to), 0o644)
	}
}

// damagedRecords cuts one record and changes a byte in the middle of others.
func damagedRecords(p Place) error {
	entries, err := os.ReadDir(p.path(".conclave/records"))
	if err != nil {
		return err
	}
	for i, e := range entries {
		name := p.path(".conclave/records/" + e.Name())
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		data[len(data)/2] ^= 1
		if i%2 == 0 {
			data = data[:len(data)*2/3]
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// zip makes an archive that climbs out, links out, repeats names and swells to
// four gigabytes.
func (p Place) zip(name, prefix string) error {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, entry := range []string{"../climbed.md", prefix + "../../climbed.md", "/climbed.md", prefix + "cat.md", prefix + "cat.md",
		prefix + paintName} {
		f, err := z.Create(entry)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(f, "climbed\n"); err != nil {
			return err
		}
	}
	h := &zip.FileHeader{Name: prefix + "link.md"}
	h.SetMode(0o777 | os.ModeSymlink)
	f, err := z.CreateHeader(h)
	if err == nil {
		_, err = io.WriteString(f, p.Outside+"/secret.txt")
	}
	if err == nil {
		err = swell(z, prefix+"manifest.json")
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return err
	}
	return p.write(name, b.String(), 0o644)
}

// swell adds an entry that is small and unpacks to a gigabyte.
func swell(z *zip.Writer, name string) error {
	packed, sum := swollen()
	f, err := z.CreateRaw(&zip.FileHeader{Name: name, Method: zip.Deflate, CRC32: sum,
		CompressedSize64: uint64(len(packed)), UncompressedSize64: 1 << 30})
	if err == nil {
		_, err = f.Write(packed)
	}
	return err
}

// swollen is a gigabyte of nothing, packed, and its checksum.
var swollen = sync.OnceValues(func() ([]byte, uint32) {
	var packed bytes.Buffer
	f, _ := flate.NewWriter(&packed, flate.BestSpeed)
	sum, zeros := crc32.NewIEEE(), make([]byte, 1<<20)
	for range 1 << 10 {
		_, _ = f.Write(zeros)
		_, _ = sum.Write(zeros)
	}
	_ = f.Close()
	return packed.Bytes(), sum.Sum32()
})

// climbingState would have an undo write and remove files elsewhere.
const climbingState = `{"version":1,
"files":{"../../../outside/secret.txt":{"sha256":"00","by":"x"},"../../climbed.md":{"sha256":"00","by":"x"}},
"undo":{"what":"install x","files":{"../../../outside/secret.txt":{"old":"../../../outside/secret.txt"},
"../../climbed.md":{"old":"../../../outside/secret.txt"}}}}`
