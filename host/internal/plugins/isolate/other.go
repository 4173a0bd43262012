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

func NewLauncher(Spec, *Group) (*Launcher, error) { return nil, errors.New(nothingHere) }

func (*Launcher) Fits(Spec) bool { return false }

func (*Launcher) Become(Spec, Handles, time.Duration) (guard *os.File, err error) {
	return nil, errors.New(nothingHere)
}

func (*Launcher) Close() {}

type Groups struct{}

func OpenGroups() (*Groups, error) { return nil, errors.New(nothingHere) }

func (*Groups) New() (*Group, error) { return nil, nil }

type Group struct{}

func (*Group) OutOfMemory() bool { return false }

func (*Group) Kill() {}

func (*Group) Remove() error { return nil }

// Readable is always true: no file is hidden from a program here.
func Readable(string) bool { return true }

// HideSelf does nothing: where there is no /proc, other processes see no environment through it.
func HideSelf() error { return nil }

func Probe() []Check { return none(nothingHere) }

type Guard struct{}

func NewGuard(*os.File, string, func(string)) *Guard { return nil }

func (*Guard) Close() {}
