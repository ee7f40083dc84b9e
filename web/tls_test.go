package web

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTLS: with a certificate of the person's others reach the page, by its name, and
// nobody without TLS does.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	roots := certificate(t, dir, "page.example")
	p := serve(t, Options{Listen: "127.0.0.1:0", Hosts: []string{"page.example"},
		Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")})
	if p.base != "https://page.example" {
		t.Fatalf("the link leads to %s", p.base)
	}
	here := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", p.s.at.String())
	}
	c := &http.Client{Transport: &http.Transport{DialContext: here, TLSClientConfig: &tls.Config{RootCAs: roots}}}
	res, err := c.Do(p.request("GET", "/api/hello", nil, nil))
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("over TLS: %v %v", res, err)
	}
	res.Body.Close()
	c.CloseIdleConnections()
	plain, err := here(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if _, err := io.WriteString(plain, "GET /api/hello HTTP/1.1\r\nHost: page.example\r\nAuthorization: Bearer "+p.token+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if got, _ := io.ReadAll(plain); strings.Contains(string(got), "workspace") || strings.Contains(string(got), "200 OK") {
		t.Errorf("without TLS: %s", got)
	}
}

// certificate writes one, with its key, and is what a browser has to trust.
func certificate(t *testing.T, dir, name string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	for file, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: cert}, "key.pem": {Type: "PRIVATE KEY", Bytes: secret},
	} {
		text := pem.EncodeToMemory(block)
		pool.AppendCertsFromPEM(text)
		if err := os.WriteFile(filepath.Join(dir, file), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return pool
}
