package offline

// cannotInvent is what Gandalf says when characters are to be thought up: a world
// that nobody wrote down is nothing that he could look at.
func (t *turn) cannotInvent() error {
	if t.form != nil {
		return nil // nothing in writing either
	}
	t.say("A character that nobody has written yet is nothing I can look up, and I do not make one up. Choose one of the packs " +
		"that are there, or keep everybody as they are: any of the nine can take a name and an emoji of yours.")
	return nil
}
