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

// group returns the folders in /proc of the processes in the process group, which a plugin leads.
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

// statFields returns what follows the name in /proc/<pid>/stat: state, parent, process group, … Nil: the process is
// gone.
func statFields(path string) []string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
}

// peakMemory returns the most memory that the processes of a group ever held, in bytes, each at its own time.
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
				kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
				if err != nil {
					return 0, fmt.Errorf("reading %s: %w", folder, err)
				}
				sum += kib << 10
			}
		}
	}
	return sum, nil
}

// ticks is how many of the units in /proc/<pid>/stat make a second, on every Linux that Go runs on.
const ticks = 100

// cpuTime returns the time that the processes of a group have computed.
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
		for _, field := range fields[11:13] { // user and system
			n, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("reading %s: %w", folder, err)
			}
			sum += time.Duration(n) * time.Second / ticks
		}
	}
	return sum, nil
}
