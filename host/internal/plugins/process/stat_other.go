//go:build !linux

package process

import "time"

// CPU is not known on this system.
func (*Process) CPU() (time.Duration, bool) { return 0, false }

func (*child) ending() bool { return false }
