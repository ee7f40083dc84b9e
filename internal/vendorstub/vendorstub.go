// Package vendorstub stands in for a vendor's hosts: a TLS server under their
// names, with a certificate of an authority of its own, before a model stub.
//
// A test gives the authority to the program (NODE_EXTRA_CA_CERTS,
// SSL_CERT_FILE) and Dial to the forwarder. It keeps which host, path and
// credential each request had, and answers only what the model stub behind it
// does.
package vendorstub

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Request is the head of one that came.
type Request struct {
	Host, Method, Path, Authorization string
}

// Server is the stand-in.
type Server struct {
	// Authority is the certificate of who signed for the hosts, as PEM.
	Authority []byte

	server   *http.Server
	listener net.Listener
	mu       sync.Mutex
	requests []Request
}

// New serves hosts by what is behind the address of a model stub.
func New(model string, hosts ...string) (*Server, error) {
	behind, err := url.Parse(model)
	if err != nil {
		return nil, err
	}
	authority, certificate, err := certify(hosts)
	if err != nil {
		return nil, err
	}
	s := &Server{Authority: authority}
	quiet := log.New(io.Discard, "", 0)
	proxy := &httputil.ReverseProxy{ErrorLog: quiet, FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(behind) }}
	s.server = &http.Server{ErrorLog: quiet, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, Request{r.Host, r.Method, r.URL.Path, r.Header.Get("Authorization")})
		s.mu.Unlock()
		if r.Header.Get("Upgrade") != "" {
			http.Error(w, "no other protocol is spoken here", http.StatusUpgradeRequired)
			return
		}
		if strings.HasSuffix(r.URL.Path, "/wham/accounts/check") { // Codex asks where its account lives
			_ = json.NewEncoder(w).Encode(map[string]any{"accounts": []any{map[string]any{ // the program sees that it is gone
				"id": r.Header.Get("ChatGPT-Account-ID"), "workspace_backend_origin": "https://" + r.Host,
				"account_routing_override": "NO_CONSTRAINT",
			}}})
			return
		}
		proxy.ServeHTTP(w, r)
	})}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2", "http/1.1"}}
	s.server.TLSConfig = config
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	go func() { _ = s.server.ServeTLS(s.listener, "", "") }() // until Close
	return s, nil
}

// Dial reaches the stand-in, whatever the host.
func (s *Server) Dial(ctx context.Context, _ string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", s.listener.Addr().String())
}

// Requests are those that have come.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Close ends every connection.
func (s *Server) Close() { _ = s.server.Close() } // a test has no use for why

// certify makes an authority and a certificate of it for hosts.
func certify(hosts []string) (authority []byte, certificate tls.Certificate, err error) {
	sign := func(template, parent *x509.Certificate, key, by *ecdsa.PrivateKey) []byte {
		der, failed := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
		if failed != nil {
			err = failed
		}
		return der
	}
	key := func() *ecdsa.PrivateKey {
		k, failed := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if failed != nil {
			err = failed
		}
		return k
	}
	from, until := time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	root := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a test's authority"},
		NotBefore: from, NotAfter: until, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "a test's vendor"},
		NotBefore: from, NotAfter: until, DNSNames: hosts, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	rootKey, leafKey := key(), key()
	if err != nil {
		return nil, certificate, err
	}
	rootDER := sign(root, root, rootKey, rootKey)
	leafDER := sign(leaf, root, leafKey, rootKey)
	authority = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootDER})
	return authority, tls.Certificate{Certificate: [][]byte{leafDER}, PrivateKey: leafKey}, err
}
