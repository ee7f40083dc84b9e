package forwarder

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
)

// dialPublic resolves a name and dials what it found, not the name once more:
// what was looked at is what is connected to.
func dialPublic(ctx context.Context, host string) (net.Conn, error) {
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be found: %w", host, err)
	}
	return dialOne(ctx, host, addrs)
}

// dialOne dials the first address that answers. A name with a single address
// inside is refused as a whole: whoever answers so is not to be trusted with
// the others.
func dialOne(ctx context.Context, host string, addrs []netip.Addr) (net.Conn, error) {
	for _, a := range addrs {
		if !public(a) {
			return nil, fmt.Errorf("%s leads to %s, which is not on the public internet", host, a)
		}
	}
	err := fmt.Errorf("%s has no address", host)
	for n, a := range addrs {
		c, failed := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(a.String(), port))
		if failed == nil {
			return c, nil
		}
		if n == 0 {
			err = nil
		}
		err = errors.Join(err, failed)
	}
	return nil, err
}

// inside are ranges that lead to no host of the public internet, beside those
// that net/netip knows.
var inside = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),       // this network
	netip.MustParsePrefix("100.64.0.0/10"),   // shared by carriers
	netip.MustParsePrefix("192.0.0.0/24"),    // protocols
	netip.MustParsePrefix("192.0.2.0/24"),    // documents
	netip.MustParsePrefix("192.88.99.0/24"),  // relays of 6to4
	netip.MustParsePrefix("198.18.0.0/15"),   // measurements
	netip.MustParsePrefix("198.51.100.0/24"), // documents
	netip.MustParsePrefix("203.0.113.0/24"),  // documents
	netip.MustParsePrefix("240.0.0.0/4"),     // reserved, and broadcast
	netip.MustParsePrefix("::/96"),           // IPv4 in an old dress
	netip.MustParsePrefix("64:ff9b::/96"),    // translated: the address within is looked at
	netip.MustParsePrefix("64:ff9b:1::/48"),  // translated, locally
	netip.MustParsePrefix("100::/64"),        // discarded
	netip.MustParsePrefix("2001::/23"),       // protocols, Teredo among them
	netip.MustParsePrefix("2001:db8::/32"),   // documents
	netip.MustParsePrefix("2002::/16"),       // 6to4
	netip.MustParsePrefix("3fff::/20"),       // documents
	netip.MustParsePrefix("5f00::/16"),       // segments
	netip.MustParsePrefix("fec0::/10"),       // sites
}

var translated = netip.MustParsePrefix("64:ff9b::/96")

// public says whether an address is one of the public internet.
func public(a netip.Addr) bool {
	a = a.Unmap()
	if translated.Contains(a) { // a network without IPv4 reaches it so
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.Zone() != "" {
		return false
	}
	for _, p := range inside {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
