package app

import (
	"context"

	"conclave/internal/git"
	"conclave/receipt"
)

// GitsKey in place of a key's file means the one that git signs with.
const GitsKey = "git"

// sign signs a receipt with the key that the person named, in the command or in
// their own configuration, and returns its fingerprint. Without one nobody signs.
func (s *gateSession) sign(ctx context.Context, r *receipt.Receipt) (string, error) {
	key := s.in.Sign
	if key == "" || key == GitsKey {
		if own := s.w.config.Gate.Sign; own != "" {
			key = own
		}
	}
	switch key {
	case "":
		return "", nil
	case GitsKey:
		var err error
		if key, err = git.SigningKey(ctx, s.w.root, s.app.Getenv); err != nil {
			return "", environmentError("sign the receipt: %w; name a key: --sign=FILE", err)
		}
	}
	by, err := receipt.Sign(ctx, r, s.app.AbsPath(key), s.w.root, s.app.Getenv)
	if err != nil {
		return "", environmentError("%w", err)
	}
	return by, nil
}
