package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// userHZ is how many clock ticks a second has in /proc, on every architecture that Go supports.
const userHZ = 100

// CPU returns the processor time that the process has used so far, all threads together; false if it is not known, as
// for an attached process or one that has ended.
func (p *Process) CPU() (time.Duration, bool) {
	if p.PID() == 0 || p.Gone(0) {
		return 0, false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID()))
	if err != nil {
		return 0, false
	}
	// The name, in parentheses, may hold anything. Behind it the third field comes first; utime and stime are the 14th
	// and 15th.
	i := bytes.LastIndexByte(stat, ')')
	fields := bytes.Fields(stat[i+1:])
	if i < 0 || len(fields) < 13 {
		return 0, false
	}
	user, err1 := strconv.ParseInt(string(fields[11]), 10, 64)
	system, err2 := strconv.ParseInt(string(fields[12]), 10, 64)
	return time.Duration(user+system) * (time.Second / userHZ), err1 == nil && err2 == nil
}
