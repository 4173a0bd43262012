package process

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
)

const (
	usePeriod = time.Second
	// threadPeriod is for a process whose threads the kernel does not bound: it may start 7,000 in a second.
	threadPeriod = 20 * time.Millisecond
)

type use struct {
	threads int
	memory  int64 // bytes: private, shared and swapped memory, and the page tables
	disk    int64 // bytes in its private directory, also of files that were removed and are open
	files   int   // in its private directory
}

// watchUse ends an isolated process that takes more than it may, until the process has ended. The kernel bounds private
// memory, and in its own namespaces threads and files; this finds shared memory, page tables, and what a machine
// without namespaces leaves open.
func (c *child) watchUse() {
	if len(c.sandbox.Apply) == 0 {
		return
	}
	period := usePeriod
	if !c.threadsBounded() {
		period = threadPeriod
	}
	tick := time.NewTicker(period)
	defer tick.Stop()
	for all := time.Now(); ; {
		select {
		case <-c.exit.done:
			return
		case <-tick.C:
		}
		// What a process takes and gives back between two looks is not seen; what it keeps is.
		u := c.use()
		if time.Since(all) >= usePeriod {
			all = time.Now()
			c.addDisk(&u)
		}
		if why := u.exceeds(int64(c.sandbox.MaxMemory)); why != "" {
			c.condemn(why)
			return
		}
	}
}

// exceeds says what is more than a process may have; "" if nothing is. maxMemory limits its private memory; 0 is no
// limit. The kernel enforces that, so a process just below it must not be killed for its page tables.
func (u use) exceeds(maxMemory int64) string {
	// A quarter on top is for page tables and shared pages, which RLIMIT_DATA does not count.
	most := maxMemory + maxMemory/4
	switch {
	case u.threads > isolate.MaxThreads:
		return fmt.Sprintf("it had %d threads, at most %d are allowed", u.threads, isolate.MaxThreads)
	case maxMemory > 0 && u.memory > most:
		return fmt.Sprintf("it used %d MiB of memory, shared memory and page tables included; at most %d MiB are "+
			"allowed (plugins.maxMemoryBytes and a quarter)", u.memory>>20, most>>20)
	case u.disk > isolate.MaxDisk:
		return fmt.Sprintf("it kept %d MiB in its private directory, at most %d MiB are allowed", u.disk>>20,
			isolate.MaxDisk>>20)
	case u.files > isolate.MaxFiles:
		return fmt.Sprintf("it kept more than %d files in its private directory", isolate.MaxFiles)
	}
	return ""
}

// threadsBounded reports whether the kernel bounds the process's threads: by its control group, or by its own user
// namespace, see limitThreads in package isolate.
func (c *child) threadsBounded() bool {
	own, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/user", c.cmd.Process.Pid))
	ours, wrong := os.Readlink("/proc/self/ns/user")
	return c.group.BoundsThreads() || err == nil && wrong == nil && own != ours
}

// use counts what cannot be read as nothing: the process is ending. It leaves out what is on the disk.
func (c *child) use() use {
	proc := fmt.Sprintf("/proc/%d/", c.cmd.Process.Pid)
	var u use
	// Not smaps, which walks all pages of the process each second.
	status, _ := os.ReadFile(proc + "status")
	for line := range bytes.Lines(status) {
		name, value, _ := strings.Cut(string(line), ":")
		n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "Threads":
			u.threads = int(n)
		// Not RssFile: pages of the program and its libraries can be dropped at any time.
		case "RssAnon", "RssShmem", "VmPTE", "VmSwap":
			u.memory += n << 10
		}
	}
	return u
}

func (c *child) addDisk(u *use) {
	if !isolate.OwnDisk(c.sandbox.Apply) {
		u.addDirectory(c.dir)
		u.addRemoved(fmt.Sprintf("/proc/%d/", c.cmd.Process.Pid), c.dir)
	}
}

// blockSize is the unit of [syscall.Stat_t.Blocks].
const blockSize = 512

// add counts blocks, not sizes: a sparse file takes only what was written.
func (u *use) add(info fs.FileInfo) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		u.disk += stat.Blocks * blockSize
	}
}

// addDirectory stops when there are too many files, which keeps looking cheap.
func (u *use) addDirectory(dir string) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // removed meanwhile, or closed to us as well: what is in it was counted before that
		}
		// Directories take inodes too.
		if u.files++; u.files > isolate.MaxFiles {
			return fs.SkipAll
		}
		if info, err := e.Info(); err == nil {
			u.add(info)
		}
		return nil
	})
}

// addRemoved adds files below dir that were removed while they were open or mapped.
func (u *use) addRemoved(proc, dir string) {
	const removed = " (deleted)"
	open, _ := os.ReadDir(proc + "fd")
	for _, e := range open {
		path := proc + "fd/" + e.Name()
		if name, err := os.Readlink(path); err != nil || !strings.HasPrefix(name, dir) ||
			!strings.HasSuffix(name, removed) {
			continue
		}
		if info, err := os.Stat(path); err == nil {
			u.add(info)
		}
	}
	maps, err := os.Open(proc + "maps")
	if err != nil {
		return
	}
	defer maps.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		line := lines.Text()
		if !strings.HasSuffix(line, removed) || !strings.Contains(line, dir) {
			continue
		}
		span, _, _ := strings.Cut(line, " ")
		from, to, _ := strings.Cut(span, "-")
		first, err1 := strconv.ParseInt(from, 16, 64)
		last, err2 := strconv.ParseInt(to, 16, 64)
		// A mapping keeps the blocks of a removed file although no descriptor shows it. Its length is the most that it
		// can hold.
		if err1 == nil && err2 == nil {
			u.disk += last - first
		}
	}
}
