// Package origin decides whether a request over HTTP is for a server of ours, and
// from nobody else's page.
//
// A page anywhere can have its own host name lead to 127.0.0.1 (rebinding), and
// send requests to any port of this machine. Such a request has that name in Host,
// or that page in Origin, or is told by the browser to be of another site. Here is
// known under which names a server is called; every other name, and every other
// origin, is refused. A request without Origin is no page's.
package origin

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
)

// Names are those under which a server is called.
type Names struct {
	Scheme string   // http or https
	Hosts  []string // with the port, where it is not the scheme's
}

// Local are the names of a server that listens on this machine alone.
func Local(addr net.Addr) Names {
	host := addr.String()
	_, port, _ := net.SplitHostPort(host)
	return Names{"http", []string{host, net.JoinHostPort("localhost", port)}}
}

// URL is the first of the names.
func (n Names) URL() string { return n.Scheme + "://" + n.Hosts[0] }

// Named says whether a request names the server by one of its names.
func (n Names) Named(r *http.Request) bool { return slices.Contains(n.Hosts, r.Host) }

// Same says whether a request names no other origin than one of the server's.
func (n Names) Same(r *http.Request) bool {
	for _, o := range r.Header["Origin"] {
		if !slices.ContainsFunc(n.Hosts, func(host string) bool { return o == n.Scheme+"://"+host }) {
			return false
		}
	}
	return true
}

// Listen listens where nobody but this machine reaches.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	host, port, err := Split(addr)
	if err != nil {
		return nil, err
	}
	if host == "" || host == "localhost" {
		host = "127.0.0.1"
	}
	if ip, err := netip.ParseAddr(host); err != nil || !ip.IsLoopback() {
		return nil, &AddrError{addr, "only this machine may reach it: 127.0.0.1:" + port}
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, port))
}

// Split takes an address apart, if one can listen there.
func Split(addr string) (host, port string, err error) {
	host, port, err = net.SplitHostPort(addr)
	if err != nil {
		return "", "", &AddrError{addr, fmt.Sprintf("say HOST:PORT, such as 127.0.0.1:7777: %v", err)}
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", "", &AddrError{addr, "a port is a number from 0 (any that is free) to 65535"}
	}
	return host, port, nil
}

// AddrError says why an address is not listened at.
type AddrError struct{ addr, reason string }

func (e *AddrError) Error() string { return fmt.Sprintf("%q: %s", e.addr, e.reason) }
