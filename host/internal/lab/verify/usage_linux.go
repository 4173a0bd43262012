package verify

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// group returns the /proc directories of all processes in the process group pgid. A plugin leads its own group, and a
// wrapper script or interpreter may run the actual plugin as a child, which must count as well. An empty group is an
// error: the plugin is gone.
func group(pgid int) ([]string, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, path := range stats {
		if fields := statFields(path); len(fields) > 2 && fields[2] == strconv.Itoa(pgid) {
			out = append(out, filepath.Dir(path))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the process group %d is empty", pgid)
	}
	return out, nil
}

// statFields returns the fields of /proc/<pid>/stat after the process name: state, parent, process group, and so on.
// The name may itself contain spaces and parentheses, hence the search for the last ")". Nil means that the process
// is gone, which can happen at any time between listing and reading.
func statFields(path string) []string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
}

// peakMemory returns the sum of the peak resident sizes (VmHWM) of the processes in a group, in bytes. The peaks need
// not coincide, so this is an upper bound. It does not include processes that have exited.
func peakMemory(pgid int) (int64, error) {
	folders, err := group(pgid)
	if err != nil {
		return 0, err
	}
	var sum int64
	for _, folder := range folders {
		raw, err := os.ReadFile(filepath.Join(folder, "status"))
		if err != nil {
			continue // it is gone
		}
		for line := range strings.Lines(string(raw)) {
			if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
				number := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB"))
				kib, err := strconv.ParseInt(number, 10, 64)
				if err != nil {
					return 0, fmt.Errorf("reading %s: %w", folder, err)
				}
				sum += kib << 10
			}
		}
	}
	return sum, nil
}

// ticks is the number of clock ticks per second in /proc/<pid>/stat. The kernel reports 100 (USER_HZ) to user space
// on every architecture that Go supports, whatever its internal timer frequency.
const ticks = 100

// cpuTime returns the CPU time that the processes of a group have used, user and system. Its resolution is one tick,
// 10 ms. A process that exits takes its time with it, so the value can fall.
func cpuTime(pgid int) (time.Duration, error) {
	folders, err := group(pgid)
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	for _, folder := range folders {
		fields := statFields(filepath.Join(folder, "stat"))
		if len(fields) < 13 {
			continue // it is gone
		}
		for _, field := range fields[11:13] { // utime and stime, fields 14 and 15 of the whole line
			n, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("reading %s: %w", folder, err)
			}
			sum += time.Duration(n) * time.Second / ticks
		}
	}
	return sum, nil
}

// runnable reports whether a thread of a group has work to do, be it that it gets no processor for it. On a machine
// under load, a program that computes can go without CPU time for as long as one that waits.
func runnable(pgid int) bool {
	folders, _ := group(pgid) // no group has no work
	for _, folder := range folders {
		threads, _ := filepath.Glob(filepath.Join(folder, "task", "[0-9]*", "stat"))
		for _, path := range threads {
			if fields := statFields(path); len(fields) > 0 && fields[0] == "R" {
				return true
			}
		}
	}
	return false
}
