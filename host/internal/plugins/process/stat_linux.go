package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// userHZ is the clock ticks per second in /proc, on every architecture that Go supports.
const userHZ = 100

// CPU returns the processor time that all threads of the process have used; false if it is not known, as for an
// attached process or one that has ended.
func (p *Process) CPU() (time.Duration, bool) {
	if p.PID() == 0 || p.Gone(0) {
		return 0, false
	}
	fields := stat(p.PID())
	if len(fields) < 13 {
		return 0, false
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * (time.Second / userHZ), err1 == nil && err2 == nil
}

// ending reports whether the kernel is removing the process, or has and its exit is not noted yet. On a busy machine
// that takes long.
func (c *child) ending() bool {
	if c.cmd == nil {
		return false
	}
	fields := stat(c.cmd.Process.Pid)
	if len(fields) < 7 {
		return true
	}
	const exiting = 1 << 2 // PF_EXITING of the kernel's include/linux/sched.h
	flags, _ := strconv.ParseUint(fields[6], 10, 64)
	return fields[0] == "Z" || flags&exiting != 0
}

// stat returns what /proc/<pid>/stat says from the third field on; nothing if there is no such process.
func stat(pid int) []string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// The second field is the name, in parentheses, and may hold anything.
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}
