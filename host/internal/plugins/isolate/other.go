//go:build !linux

package isolate

import (
	"errors"
	"os/exec"
)

const nothingHere = "only Linux can be told to isolate a process"

// Main does nothing here: there are no launchers.
func Main() { registered.Store(true) }

// Command fails here.
func Command(Spec) (*exec.Cmd, error) { return nil, errors.New(nothingHere) }

// Readable reports that all files can be read: nothing is kept from a program here.
func Readable(string) bool { return true }

// Probe says that nothing can be enforced here.
func Probe() []Check { return none(nothingHere) }
