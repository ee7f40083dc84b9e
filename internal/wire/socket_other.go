//go:build !linux && !darwin

package wire

import "errors"

// Without the credentials of a peer nobody is talked to.

// Listener is a socket of ours; here there are none.
type Listener struct{}

// Listen is refused here.
func Listen(string, string) (*Listener, error) { return nil, errors.ErrUnsupported }

// Accept is refused here.
func (l *Listener) Accept() (*Conn, error) { return nil, errors.ErrUnsupported }

// Greet is refused here.
func (l *Listener) Greet(*Conn) error { return errors.ErrUnsupported }

// Close does nothing.
func (l *Listener) Close() error { return nil }

// Dial is refused here.
func Dial(string, string) (*Conn, error) { return nil, errors.ErrUnsupported }
