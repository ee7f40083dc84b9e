package app

import (
	"cmp"
	"io/fs"
	"path/filepath"
	"sync"

	"conclave/bundle"
)

// uploadBounds are what bundles that are handed over may take. They are anyone's, and
// so it is less than of those that a person names. The zero value means the usual.
type uploadBounds struct {
	open  int           // at once, with those that are coming; 32
	bytes int64         // on disk, of all with what was made of them; 4 GiB
	made  int64         // of what is made of one to read it; 1 GiB
	each  bundle.Limits // 1 GiB unpacked, 200,000 lines
}

// uploadSpace is what uploads take. Each has its place before its first byte comes,
// and as much of the disk as it may have until it is known how much it takes.
type uploadSpace struct {
	most    uploadBounds
	reading chan struct{} // of the one that is read

	mu     sync.Mutex
	places int
	bytes  int64
}

func newUploadSpace(most uploadBounds) *uploadSpace {
	most.open, most.bytes, most.made = cmp.Or(most.open, 32), cmp.Or(most.bytes, 4<<30), cmp.Or(most.made, 1<<30)
	most.each.Bytes, most.each.Lines = cmp.Or(most.each.Bytes, 1<<30), cmp.Or(most.each.Lines, 200_000)
	return &uploadSpace{most: most, reading: make(chan struct{}, 1)}
}

// uploadPlace is what one upload takes.
type uploadPlace struct {
	space *uploadSpace
	bytes int64
}

func (s *uploadSpace) take() (*uploadPlace, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &uploadPlace{space: s}
	if s.places >= s.most.open {
		return nil, noError("%d bundles are open: %s", s.places, endOfUploads)
	}
	if err := p.resize(MaxUpload); err != nil {
		return nil, err
	}
	s.places++
	return p, nil
}

const endOfUploads = "end this process and start it again, and they are gone"

// resize makes it take so many bytes, where there is room. The space is locked.
func (p *uploadPlace) resize(bytes int64) error {
	if all := p.space.bytes + bytes - p.bytes; all > p.space.most.bytes {
		return noError("the bundles that are open would take %d MiB, more than %d: %s",
			all>>20, p.space.most.bytes>>20, endOfUploads)
	}
	p.space.bytes += bytes - p.bytes
	p.bytes = bytes
	return nil
}

// settle makes it take what its directory takes.
func (p *uploadPlace) settle(dir string) error {
	size, err := sizeOf(dir)
	if err != nil {
		return environmentError("%w", err)
	}
	p.space.mu.Lock()
	defer p.space.mu.Unlock()
	return p.resize(size)
}

// leave gives back all that it takes.
func (p *uploadPlace) leave() {
	p.space.mu.Lock()
	defer p.space.mu.Unlock()
	p.space.places--
	p.space.bytes -= p.bytes
}

// sizeOf is how many bytes the files below a directory have.
func sizeOf(dir string) (size int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}
