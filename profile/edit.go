package profile

import "fmt"

// Rename returns the profile's file with another skin name or emoji; an empty
// one is left as it is. No other byte changes.
func (p *Profile) Rename(skin, emoji string) ([]byte, error) {
	q, faults := Parse(p.file, p.Bytes()) // an edit must not show in p
	if q == nil {
		return nil, &FaultsError{"profile " + p.Archetype, faults}
	}
	if skin != "" {
		if err := CheckSkinName(skin); err != nil {
			return nil, err
		}
		key := "skin-name"
		if _, old := q.doc.Field("profile-name"); old && q.legacy {
			key = "profile-name"
		}
		if err := q.setName(key, skin); err != nil {
			return nil, err
		}
	}
	if emoji != "" {
		if err := emojiError(emoji); err != nil {
			return nil, err
		}
		if err := q.doc.SetText("emoji", emoji); err != nil {
			return nil, fmt.Errorf("change the emoji of %s: %w", p.file, err)
		}
	}
	return q.doc.Bytes(), nil
}

// setName changes the name wherever the format says it: the key, and the section
// that repeats it.
func (p *Profile) setName(key, skin string) error {
	err := p.doc.SetText(key, skin)
	if _, ok := p.doc.Section("Name"); ok && err == nil {
		err = p.doc.SetSection("Name", skin)
	}
	if err != nil {
		return fmt.Errorf("change the name in %s: %w", p.file, err)
	}
	return nil
}
