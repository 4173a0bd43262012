package main

import (
	"io"
	"os"
)

// safeStderr is standard error. Names of files, tools and settings that a stranger chose occur in errors, notes and log
// lines, and a terminal would act on escape sequences in them. Nothing written through it can make it do so.
type safeStderr struct{ *os.File }

// Write writes p, whole lines as a rule, with what a terminal would act on replaced.
func (w safeStderr) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.File, printable(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
