package app

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"conclave/audit"
	"conclave/bundle"
	gateflow "conclave/gate/flow"
	"conclave/internal/newer"
	"conclave/quest"
	"conclave/quest/judging"
	"conclave/receipt"
	"conclave/record"
	door "conclave/workspace"
)

// ReceiptFile is a receipt to be checked, and what the person knows beside it.
// Only File is needed, and no workspace.
type ReceiptFile struct {
	File    string
	Work    string   // where the work lies; or its one file
	Head    string   // of the gate's record
	Signers string   // a file of allowed signers
	Records []string // files of the gate's and its judges' records
}

// ReceiptCheck is what a receipt proves.
type ReceiptCheck = receipt.Checked

// ReceiptStatement is one thing that a check of a receipt says.
type ReceiptStatement = receipt.Statement

// CheckReceipt says what a receipt proves to whoever has no more than is named.
// The answer is no unless the receipt holds and somebody vouches for it.
func (a *App) CheckReceipt(_ context.Context, in ReceiptFile) (*ReceiptCheck, error) {
	against, err := a.against(in)
	if err != nil {
		return nil, err
	}
	r, err := a.readReceipt(in.File)
	var form *receipt.FormError
	if errors.As(err, &form) {
		return receipt.Unreadable(form), saidNo()
	}
	if err != nil {
		return nil, err
	}
	if in.Work != "" {
		if against.Work, err = a.foundWork(in.Work, &r.Body); err != nil {
			return nil, err
		}
	}
	for _, name := range in.Records {
		one, err := a.recorded(name, &r.Body)
		if err != nil {
			return nil, err
		}
		against.Records = append(against.Records, one)
	}
	checked := receipt.Verify(r, against)
	return checked, noUnless(checked.Vouched())
}

// readReceipt reads a receipt that the person named.
func (a *App) readReceipt(name string) (*receipt.Receipt, error) {
	data, err := door.ReadNamed(a.AbsPath(name), receipt.MaxSize)
	var size *door.SizeError
	if errors.As(err, &size) {
		return nil, receipt.TooLarge()
	}
	if err != nil {
		return nil, namedError("%w", err)
	}
	r, err := receipt.Read(data)
	if errors.As(err, new(*newer.Error)) {
		return nil, environmentError("%s: %w", name, err)
	}
	return r, err
}

// maxSigners is the most that a file of allowed signers may have.
const maxSigners = 1 << 20

func (a *App) against(in ReceiptFile) (against receipt.Against, err error) {
	against.Head = strings.ToLower(in.Head)
	if raw, err := hex.DecodeString(against.Head); in.Head != "" && (err != nil || len(raw) != len(record.Hash{})) {
		return against, usageError("%q is no head of a record: it has 64 hexadecimal digits", in.Head)
	}
	if in.Signers != "" {
		data, err := door.ReadNamed(a.AbsPath(in.Signers), maxSigners)
		if err != nil {
			return against, namedError("%w", err)
		}
		if against.Signers, err = receipt.ReadSigners(in.Signers, data); err != nil {
			return against, environmentError("%w", err)
		}
	}
	return against, nil
}

// recorded reads a record that the person named, or that of a bundle.
func (a *App) recorded(name string, b *receipt.Body) (one receipt.Recorded, err error) {
	f, err := door.OpenNamed(a.AbsPath(name))
	if err != nil {
		return one, namedError("%w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	start := make([]byte, 8)
	if n, err := f.ReadAt(start, 0); err == nil && n == len(start) && !record.IsRecord(start) {
		err := a.inBundle(name, func(r *bundle.Reader) error {
			return unpackedRecord(r, func(src io.ReaderAt) error {
				one, err = readRecorded(name, src, b)
				return err
			})
		})
		return one, err
	}
	one, err = readRecorded(name, f, b)
	if err != nil {
		return one, environmentError("%s: %w", name, err)
	}
	return one, nil
}

// unpackedRecord puts the record of a bundle into a file that nobody else sees.
func unpackedRecord(r *bundle.Reader, look func(io.ReaderAt) error) (err error) {
	in, err := r.Open(bundle.RecordFile)
	if err != nil {
		return noError("the bundle has no record: %w", err)
	}
	defer in.Close()
	dir, err := os.MkdirTemp("", "conclave-record-*")
	if err != nil {
		return environmentError("%w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	f, err := os.Create(filepath.Join(dir, "run"))
	if err != nil {
		return environmentError("%w", err)
	}
	defer f.Close()
	if _, err := io.Copy(f, in); err != nil {
		return noError("the bundle's record: %w", err)
	}
	return look(f)
}

func readRecorded(name string, src io.ReaderAt, b *receipt.Body) (receipt.Recorded, error) {
	one := receipt.Recorded{Name: name}
	verified, err := record.VerifyReader(src)
	if err != nil {
		return one, err
	}
	one.Frames, one.Withheld = verified.Frames, int(verified.Withheld)
	if one.Report, err = audit.Judge(src); err != nil {
		return one, err
	}
	for _, j := range b.Judges {
		if j.Run != one.Report.Run || one.Withheld > 0 || !one.Report.Sound {
			continue
		}
		if one.Judge, err = gateflow.Reread(src, b, j); err != nil {
			one.Report.Findings = append(one.Report.Findings, audit.Finding{Rule: "turns", What: err.Error()})
		}
	}
	return one, nil
}

// foundWork is what lies where the work should: by the names that the receipt
// has, and by the rules by which a gate takes work.
func (a *App) foundWork(name string, b *receipt.Body) (*receipt.Found, error) {
	where := a.AbsPath(name)
	info, err := os.Stat(where)
	if err != nil {
		return nil, namedError("%w", err)
	}
	found := &receipt.Found{Where: name, Lines: map[string]int{}, Modes: runtime.GOOS != "windows"}
	if !info.IsDir() {
		return found, a.foundFile(where, info, b, found)
	}
	var listed []string
	for _, f := range b.Case.Work.Files {
		listed = append(listed, f.Path)
	}
	names := b.Case.Work.Names
	if len(names) == 0 {
		names = listed
	}
	// Keys and logins among it were granted, or they would not be listed.
	work, err := quest.OpenWork(where, names, listed...)
	var problems *quest.WorkError
	if errors.As(err, &problems) {
		found.Problems = problems.Problems
		return found, nil
	}
	if err != nil {
		return nil, environmentError("%w", err)
	}
	defer work.Close()
	cited := b.Cited()
	for _, f := range work.Files {
		found.Files = append(found.Files, receipt.File{Path: f.Path, Size: f.Size, SHA256: f.SHA256, Executable: f.Executable})
		if !cited[f.Path] {
			continue
		}
		var text bytes.Buffer
		if err := work.Copy(f, &text); err != nil {
			return nil, environmentError("%w", err)
		}
		found.Lines[f.Path] = judging.CountLines(text.Bytes())
	}
	return found, nil
}

// foundFile is the one file of a work that is one file, whatever it is called
// here.
func (a *App) foundFile(where string, info os.FileInfo, b *receipt.Body, found *receipt.Found) error {
	if len(b.Case.Work.Files) != 1 {
		return usageError("%s is a file, and %d were judged: name the directory in which they lie", found.Where,
			len(b.Case.Work.Files))
	}
	f, err := door.OpenNamed(where)
	if err != nil {
		return namedError("%w", err)
	}
	defer f.Close()
	judged := b.Case.Work.Files[0]
	text, err := io.ReadAll(io.LimitReader(f, judged.Size+1))
	if err != nil {
		return environmentError("%w", err)
	}
	found.Files = []receipt.File{receipt.FileOf(judged.Path, text, info.Mode()&0o111 != 0)}
	found.Lines[judged.Path] = judging.CountLines(text)
	return nil
}
