//go:build unix

package engine

// syncDir makes the names in a directory durable.
func (e *Engine) syncDir(dir string) error {
	d, err := e.root.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
