//go:build !linux

package isolate

import (
	"errors"
	"os"
	"time"
)

const nothingHere = "only Linux can be told to isolate a process"

// Main only registers the program: there are no launchers on this system.
func Main() { registered.Store(true) }

// NewLauncher always fails.
func NewLauncher(Spec, *Group) (*Launcher, error) { return nil, errors.New(nothingHere) }

// Fits is never called, as there are no launchers.
func (*Launcher) Fits(Spec) bool { return false }

// Become is never called.
func (*Launcher) Become(Spec, Handles, time.Duration) (guard *os.File, err error) {
	return nil, errors.New(nothingHere)
}

// Close does nothing.
func (*Launcher) Close() {}

// Groups makes no groups.
type Groups struct{}

// OpenGroups always fails.
func OpenGroups() (*Groups, error) { return nil, errors.New(nothingHere) }

// New returns nil: no groups can be made here.
func (*Groups) New() (*Group, error) { return nil, nil }

// Group is never made.
type Group struct{}

// OutOfMemory is false.
func (*Group) OutOfMemory() bool { return false }

// Kill does nothing.
func (*Group) Kill() {}

// Remove does nothing.
func (*Group) Remove() error { return nil }

// Readable is always true: no file is hidden from a program here.
func Readable(string) bool { return true }

// HideSelf does nothing: where there is no /proc, other processes see no environment through it.
func HideSelf() error { return nil }

// Probe reports that this system can enforce nothing.
func Probe() []Check { return none(nothingHere) }

// Guard does nothing: it is never made.
type Guard struct{}

// NewGuard is never called.
func NewGuard(*os.File, string, func(string)) *Guard { return nil }

// Close does nothing.
func (*Guard) Close() {}

// Refused returns nothing.
func (*Guard) Refused() []Refused { return nil }
