package seat

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"

	"conclave/audit"
	"conclave/internal/shingle"
)

// fingerprint makes the keyed digests of everything that the role is denied,
// less what also stands in something that it is given: a phrase that both
// share accuses nobody. The second result has one blob for each source that has
// windows left.
func fingerprint(p Plan, given [][]byte) (audit.Room, [][]byte, error) {
	opened := audit.Room{Role: p.Role, InProcess: p.InProcess, Key: make([]byte, shingle.KeySize), Denied: []audit.Source{}}
	if _, err := rand.Read(opened.Key); err != nil {
		return opened, nil, err
	}
	var prints [][]byte
	for _, d := range p.Denied {
		set, err := shingle.NewSet(opened.Key)
		if err != nil {
			return opened, nil, err
		}
		set.Add(d.Name, d.Text)
		for _, text := range given {
			set.Subtract(text)
		}
		var blob bytes.Buffer
		for _, digest := range set.Digests(d.Name) {
			blob.Write(digest[:])
		}
		sum := sha256.Sum256(d.Text)
		opened.Denied = append(opened.Denied, audit.Source{
			Kind: d.Kind, Name: d.Name, Size: len(d.Text), SHA256: hex.EncodeToString(sum[:]),
			Windows: blob.Len() / len(shingle.Digest{}), Reason: d.Reason,
		})
		if blob.Len() > 0 {
			prints = append(prints, blob.Bytes())
		}
	}
	return opened, prints, nil
}
