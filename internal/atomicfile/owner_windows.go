package atomicfile

import (
	"io/fs"
	"os"
)

// giveTo does nothing: a file gets its owner's rights from its directory.
func giveTo(*os.File, fs.FileInfo) error { return nil }
