package newer_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"conclave/internal/newer"
)

func TestCheck(t *testing.T) {
	for _, v := range []int{0, 1, 2} {
		if err := newer.Check(v, 2); err != nil {
			t.Errorf("version %d: %v", v, err)
		}
	}
	err := fmt.Errorf("trust.json: %w", newer.Check(3, 2))
	if !errors.As(err, new(*newer.Error)) {
		t.Errorf("%v is not known as what it is", err)
	}
	const want = "trust.json: it is of version 3, written by a newer conclave: use that one (this one knows 2)"
	if !strings.HasPrefix(err.Error(), want) {
		t.Error(err)
	}
}
