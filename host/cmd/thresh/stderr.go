package main

import (
	"io"
	"os"
)

// safeStderr is standard error. Names of files, tools and settings that a stranger chose occur in errors, notes and log
// lines; a terminal must not act on escape sequences in them.
type safeStderr struct{ *os.File }

// Write writes p, usually whole lines, with what a terminal would act on replaced.
func (w safeStderr) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.File, printable(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
