//go:build !unix && !windows

package tail

import (
	"io/fs"
	"os"
)

// identity is not known here: content alone tells files apart.
func identity(*os.File, fs.FileInfo) string { return "" }
