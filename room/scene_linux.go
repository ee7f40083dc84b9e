package room

import (
	"crypto/rand"
	"encoding/binary"
	"net"
	"os"
)

// describe adds what only Linux has, and notes what the room's user must not find the same in the room.
func (s *scene) describe() error {
	s.Abstract = "conclave-" + rand.Text()
	l, err := net.Listen("unix", "@"+s.Abstract)
	if err != nil {
		return err
	}
	s.accept(l)
	var key [4]byte
	_, _ = rand.Read(key[:]) // it does not fail
	s.IPCKey = int(binary.NativeEndian.Uint32(key[:])&0x7ffffffe | 1)
	if s.Host, err = os.Hostname(); err != nil {
		return err
	}
	s.Spaces = map[string]string{}
	for _, name := range spaces {
		if s.Spaces[name], err = os.Readlink("/proc/self/ns/" + name); err != nil {
			return err
		}
	}
	s.InsideFile, s.InsideDir, s.InsideAbstract = canaryFile, "/", "conclave-"+rand.Text()
	return nil
}
