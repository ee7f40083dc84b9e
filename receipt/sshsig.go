package receipt

import (
	"bytes"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Namespace is what a signature on a receipt is for: one that was given for
// anything else is none on a receipt.
const Namespace = "conclave-receipt@1"

// SSHSIG, as OpenSSH's PROTOCOL.sshsig has it.
const (
	sigMagic   = "SSHSIG"
	sigVersion = 1
	sigBegin   = "-----BEGIN SSH SIGNATURE-----\n"
	sigEnd     = "-----END SSH SIGNATURE-----\n"
	sigColumns = 70

	leastRSA = 2048 // bits
)

// sigBlob is what stands in the armour, behind the magic.
type sigBlob struct {
	Version   uint32
	Key       []byte
	Namespace string
	Reserved  string
	Hash      string
	Signature []byte
}

// verifySignature says by which key a message was signed. The armour is held to
// the one way in which ssh-keygen writes it: a signature with a byte changed is
// none, even where the byte would not count.
func verifySignature(armour string, message []byte) (ssh.PublicKey, error) {
	blob, err := readArmour(armour)
	if err != nil {
		return nil, err
	}
	var s sigBlob
	rest, ok := bytes.CutPrefix(blob, []byte(sigMagic))
	if !ok || ssh.Unmarshal(rest, &s) != nil || s.Version != sigVersion {
		return nil, errors.New("the signature is no SSH signature of version 1")
	}
	if s.Namespace != Namespace {
		return nil, fmt.Errorf("the signature is for %q, not for %s", s.Namespace, Namespace)
	}
	if s.Reserved != "" {
		return nil, errors.New("the signature holds something that this version does not know")
	}
	var digest []byte
	switch s.Hash {
	case "sha256":
		sum := sha256.Sum256(message)
		digest = sum[:]
	case "sha512":
		sum := sha512.Sum512(message)
		digest = sum[:]
	default:
		return nil, fmt.Errorf("the signature is over a digest by %q, not by sha256 or sha512", s.Hash)
	}
	key, sig, err := readSigner(s)
	if err != nil {
		return nil, err
	}
	signed := append([]byte(sigMagic), ssh.Marshal(struct{ Namespace, Reserved, Hash, Digest string }{
		s.Namespace, s.Reserved, s.Hash, string(digest)})...)
	if err := key.Verify(signed, sig); err != nil {
		return nil, errors.New("the signature is not over this receipt, or not by its key")
	}
	return key, nil
}

func readArmour(text string) ([]byte, error) {
	middle, ok := strings.CutPrefix(text, sigBegin)
	if ok {
		middle, ok = strings.CutSuffix(middle, sigEnd)
	}
	if !ok {
		return nil, errors.New("the signature has no beginning or no end")
	}
	blob, err := base64.StdEncoding.Strict().DecodeString(strings.ReplaceAll(middle, "\n", ""))
	if err != nil || armoured(blob) != text {
		return nil, errors.New("the signature is not written as ssh-keygen writes it")
	}
	return blob, nil
}

func armoured(blob []byte) string {
	var b strings.Builder
	b.WriteString(sigBegin)
	for line := range slices.Chunk([]byte(base64.StdEncoding.EncodeToString(blob)), sigColumns) {
		b.Write(line)
		b.WriteByte('\n')
	}
	b.WriteString(sigEnd)
	return b.String()
}

// readSigner takes key and signature apart, and refuses what is not strong, or
// not written in the one way.
func readSigner(s sigBlob) (ssh.PublicKey, *ssh.Signature, error) {
	key, err := ssh.ParsePublicKey(s.Key)
	if err != nil || !bytes.Equal(key.Marshal(), s.Key) {
		return nil, nil, errors.New("the signature's key cannot be read")
	}
	sig := new(ssh.Signature)
	if err := ssh.Unmarshal(s.Signature, sig); err != nil || !bytes.Equal(ssh.Marshal(sig), s.Signature) {
		return nil, nil, errors.New("the signature cannot be read")
	}
	hardware := false
	switch key.Type() {
	case ssh.KeyAlgoED25519:
	case ssh.KeyAlgoSKED25519:
		hardware = true
	case ssh.KeyAlgoRSA:
		err = strictRSA(key, sig)
	case ssh.KeyAlgoSKECDSA256:
		hardware = true
		err = strictECDSA(sig)
	case ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521:
		err = strictECDSA(sig)
	default:
		err = fmt.Errorf("the signature is by a key of the kind %s, which is not taken: "+
			"Ed25519, ECDSA, RSA, or one of the first two on hardware", key.Type())
	}
	if err == nil && !hardware && len(sig.Rest) > 0 {
		err = errors.New("something stands behind the signature")
	}
	return key, sig, err
}

func strictRSA(key ssh.PublicKey, sig *ssh.Signature) error {
	public, ok := key.(ssh.CryptoPublicKey).CryptoPublicKey().(*rsa.PublicKey)
	switch {
	case !ok || public.N.BitLen() < leastRSA:
		return fmt.Errorf("the signature is by an RSA key of fewer than %d bits", leastRSA)
	case sig.Format != ssh.KeyAlgoRSASHA256 && sig.Format != ssh.KeyAlgoRSASHA512:
		return fmt.Errorf("the signature is made by %s, not by %s or %s", sig.Format, ssh.KeyAlgoRSASHA256, ssh.KeyAlgoRSASHA512)
	case len(sig.Blob) != public.Size():
		return errors.New("the signature is shorter or longer than its key")
	}
	return nil
}

func strictECDSA(sig *ssh.Signature) error {
	var point struct{ R, S *big.Int }
	if ssh.Unmarshal(sig.Blob, &point) != nil || !bytes.Equal(ssh.Marshal(point), sig.Blob) {
		return errors.New("the signature's two numbers are not written in the one way")
	}
	return nil
}
