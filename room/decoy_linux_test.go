package room

import (
	"sync"
	"testing"
)

// A decoy is there, with its command line and its environment, when startDecoy
// returns; on a busy machine too.
func TestDecoyIsThere(t *testing.T) {
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				pid, hangUp, err := startDecoy("some-token")
				if err != nil {
					t.Error(err)
					return
				}
				for _, what := range []string{"cmdline", "environ"} {
					if err := readDecoy(&terrain{Decoy: pid, Token: "some-token"}, what); err != nil {
						t.Errorf("%s: %v", what, err)
					}
				}
				hangUp()
			}
		})
	}
	all.Wait()
}
