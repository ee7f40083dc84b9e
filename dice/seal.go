package dice

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"conclave/internal/atomicfile"
	"conclave/workspace"
)

// Break is what a log says of the lines that it lost.
type Break struct {
	SHA256 string `json:"sha256,omitempty"` // of the file as it was found; empty when there was none
	Lines  int    `json:"lines"`            // of it that hold: they stand before the break
	Good   uint64 `json:"good"`             // the last roll among them
	Why    string `json:"why"`              // what was found
}

// Sealed is what Seal did.
type Sealed struct {
	Break
	N    uint64 `json:"n"`              // the last number that was spent; the next roll is the one after
	Kept string `json:"kept,omitempty"` // the file as it was found
	Seed bool   `json:"seed,omitempty"` // nothing but the seed was lost
}

// ErrWhole says that there is nothing to seal.
var ErrWhole = errors.New("the dice log holds, and its seed is there: there is nothing to seal")

// Seal gives a log a way on whose lines do not hold, or are missing, or whose
// seed is lost. The file as it is goes to the directory keep, whole; the lines
// that hold stay; behind them stands for ever what was found, the hash of that
// file, what reason was given, and the seed, if it is there. Numbers go on
// after the last that anybody may have seen: none is given twice. The next roll
// begins an epoch.
func Seal(opt Options, keep, reason string) (Sealed, error) {
	log, err := OpenLog(opt)
	if err == nil {
		return Sealed{}, errors.Join(ErrWhole, log.Close())
	}
	if errors.As(err, new(*seedLostError)) {
		opt.acceptLostSeed = true
		if log, err = OpenLog(opt); err != nil {
			return Sealed{}, err
		}
		m := log.Mark()
		return Sealed{N: m.N, Seed: true, Break: Break{Why: "the seed is lost"}}, log.Close()
	}
	var damage *DamageError
	if !errors.As(err, &damage) {
		return Sealed{}, err
	}
	return seal(opt, keep, reason, damage)
}

func seal(opt Options, keep, reason string, damage *DamageError) (Sealed, error) {
	data, err := workspace.ReadOwn(opt.Path, workspace.MaxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Sealed{}, err
	}
	st, out := newState(), Sealed{Break: Break{Why: damage.Err.Error()}}
	good := 0
	for raw := range bytes.Lines(data) {
		line, err := decode(bytes.TrimSuffix(raw, []byte("\n")))
		if err != nil || raw[len(raw)-1] != '\n' || st.apply(line, int64(good)) != nil {
			break
		}
		good += len(raw)
		out.Lines++
	}
	last, err := opt.spent(data)
	if err != nil {
		return Sealed{}, err
	}
	out.Good, out.N = st.n, max(st.n, last.N)
	line := &Line{Event: eventBreak, V: logVersion, Epoch: max(st.epoch, last.Epoch), N: out.N, Note: reason,
		Break: &out.Break}
	if seed, err := readSeed(opt.SeedPath); err == nil {
		line.Seed = hex.EncodeToString(seed[:]) // it is never used again
	}
	if data != nil {
		sum := sha256.Sum256(data)
		out.SHA256 = hex.EncodeToString(sum[:])
		out.Kept = filepath.Join(keep, fmt.Sprintf("dice-log-%.16s.jsonl", out.SHA256))
		if err := atomicfile.Write(out.Kept, data, 0o600); err != nil {
			return Sealed{}, err
		}
	}
	added, err := line.encode(st.head)
	if err == nil {
		err = atomicfile.Write(opt.Path, append(bytes.Clone(data[:good]), added...), 0o600)
	}
	if err != nil {
		return Sealed{}, err
	}
	log, err := OpenLog(opt)
	if err != nil {
		return Sealed{}, err
	}
	return out, log.Close()
}

// spent is the highest roll and epoch that were ever seen: by marks, and by
// lines whose own hash holds, wherever they stand.
func (o Options) spent(data []byte) (last Line, err error) {
	marks, err := o.marks()
	for _, m := range marks {
		last.N = max(last.N, m.N)
	}
	for raw := range bytes.Lines(data) {
		if line, err := decode(bytes.TrimSuffix(raw, []byte("\n"))); err == nil {
			last.N, last.Epoch = max(last.N, line.N), max(last.Epoch, line.Epoch)
		}
	}
	return last, err
}

// breakOff takes up a break: what follows owes nothing to what was lost.
func (s *state) breakOff(l Line) error {
	switch {
	case l.Break == nil:
		return errors.New("a break that does not say what was broken")
	case l.Break.Good != s.n:
		return fmt.Errorf("a break after roll %d stands behind roll %d", l.Break.Good, s.n)
	case l.N < s.n || l.Epoch < s.epoch:
		return errors.New("a break that would give numbers again")
	}
	s.n, s.epoch, s.open = l.N, l.Epoch, false
	for hash, n := range s.want {
		if n <= l.N {
			delete(s.want, hash)
		}
	}
	return nil
}
