//go:build !linux

package isolate

import (
	"errors"
	"os"
	"time"
)

// Main only registers the program: there are no launchers on this system.
func Main() { registered.Store(true) }

func NewLauncher(Spec, *Group) (*Launcher, error) { return nil, errors.New(nothingHere) }

func (*Launcher) Fits(Spec) bool { return false }

func (*Launcher) Become(Spec, Handles, time.Duration) (guard *os.File, err error) {
	return nil, errors.New(nothingHere)
}

func (*Launcher) Close() {}

// Readable is always true: no file is hidden from a program here.
func Readable(string) bool { return true }

// HideSelf is an error: the system shows a process's environment to the others of its user.
func HideSelf() error { return errors.ErrUnsupported }

type Guard struct{}

func NewGuard(*os.File, string, func(string)) *Guard { return nil }

func (*Guard) Close() {}
