//go:build !linux

package isolate

import (
	"errors"
	"os/exec"
)

const nothingHere = "only Linux can be told to isolate a process"

// Main only registers the program: there are no launchers on this system.
func Main() { registered.Store(true) }

// Command always fails.
func Command(Spec) (*exec.Cmd, error) { return nil, errors.New(nothingHere) }

// Readable is always true: no file is hidden from a program here.
func Readable(string) bool { return true }

// Probe reports that this system can enforce nothing.
func Probe() []Check { return none(nothingHere) }
