package seat

import (
	"bytes"
	"encoding/hex"

	"conclave/audit"
	"conclave/internal/shingle"
)

// fingerprint makes the keyed digests of everything that the role is denied,
// less what also stands in something that it is given: a phrase that both
// share accuses nobody. The second result has one blob for each source that has
// windows left.
func fingerprint(p Plan, given [][]byte) (audit.Room, [][]byte) {
	printer := p.Printer
	if printer == nil {
		printer = shingle.NewPrinter()
	}
	prints := make([]shingle.Print, len(p.Denied))
	for i, d := range p.Denied {
		if d.Print != nil {
			prints[i] = *d.Print
		} else {
			prints[i] = printer.Print(d.Text)
		}
	}
	opened := audit.Room{Role: p.Role, InProcess: p.InProcess, Key: printer.Key(), Readings: 2, Denied: []audit.Source{}}
	var blobs [][]byte
	for i, digests := range printer.Digests(prints, given) {
		var blob bytes.Buffer
		for _, digest := range digests {
			blob.Write(digest[:])
		}
		source := audit.Source{
			Kind: p.Denied[i].Kind, Name: p.Denied[i].Name, Reason: p.Denied[i].Reason,
			Size: prints[i].Size, SHA256: hex.EncodeToString(prints[i].SHA256[:]), Windows: len(digests),
		}
		if prints[i].Rate > 1 {
			source.Rate = prints[i].Rate
		}
		opened.Denied = append(opened.Denied, source)
		if blob.Len() > 0 {
			blobs = append(blobs, blob.Bytes())
		}
	}
	return opened, blobs
}
