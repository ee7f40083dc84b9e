// Package forwarder is the way out of a room whose program speaks to its vendor
// by itself, with the person's own login: it passes TLS to the vendor's model
// hosts and nothing else.
//
// A Forwarder serves one room, through ServeConn, as a gateway does. What comes
// with "CONNECT HOST:443" and the room's token is passed on when HOST is on the
// list, and when the first bytes are a TLS ClientHello that names that very
// host in the clear. The forwarder resolves the name and dials by itself; an
// address that is not on the public internet is refused, so that no DNS can
// point inside. Calls of the room's tools (/mcp) are answered on the same port.
//
// # What it refuses
//
// Every other host, every address in digits, every other port and every method
// but CONNECT; what lacks the token; plain text, and a hello without a name,
// with another name or with an encrypted one; connections, bytes and waiting
// beyond the Limits. A refusal is an HTTP answer that names the rule, where the
// other side still reads one, and otherwise the end of the connection.
//
// # What it records
//
// The heads: "forwarder.connect" before the first byte passes,
// "forwarder.closed" with times and sizes, "forwarder.refused" with rule and
// target; beyond a thousand refusals they are only counted. Never content: it
// is the vendor's and the program's TLS, end to end. What cannot be recorded
// does not happen: nothing is forwarded any more.
//
// # What it cannot see
//
// Whatever is inside TLS: which path is asked for, which credential, and which
// Host header, so that a server which answers for several names may be asked
// for another one of them. It dials directly, and knows no proxy of the person's.
package forwarder
