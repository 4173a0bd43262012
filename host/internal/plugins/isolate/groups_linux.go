package isolate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Groups makes control groups (cgroup v2), one per program. They bound what no limit of a process counts: shared
// memory, and all that a program and those that it starts take together. It works where this user may divide a part of
// the tree; see [findGroups]. A nil Groups makes none.
type Groups struct {
	dir         string   // of the delegated group
	controllers []string // that bound what is in its groups
	// inside is set if this process is in the delegated group itself. Such a group cannot bound those below it, unless
	// it is the root of the tree.
	inside bool
}

const (
	memoryController = "memory"
	tasksController  = "pids"
	cpuController    = "cpu"
)

const groupPrefix = "thresh-"

// hostGroup is where the host moves if it is in the delegated group itself.
const hostGroup = "host"

// cpuWeight is a program's share of the processors where others want them too; everything else, such as the host, has
// 100. There is no upper bound: an idle processor costs nothing.
const cpuWeight = "50"

// OpenGroups finds the part of the tree in which groups can be made, and turns on what bounds them there. It may have
// to move this process into its own group below. The error says why no group can be made; most machines leave none to a
// user.
func OpenGroups() (*Groups, error) {
	g, err := findGroups()
	if err != nil {
		return nil, err
	}
	g.sweep()
	on := words(path.Join(g.dir, "cgroup.subtree_control"))
	off := slices.DeleteFunc(slices.Clone(g.controllers), func(c string) bool { return slices.Contains(on, c) })
	if len(off) == 0 {
		return g, nil
	}
	if g.inside {
		host := path.Join(g.dir, hostGroup)
		if err := os.Mkdir(host, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if err := put(host, "cgroup.procs", strconv.Itoa(os.Getpid())); err != nil {
			return nil, fmt.Errorf("moving the host to a group of its own: %w", err)
		}
	}
	if err := put(g.dir, "cgroup.subtree_control", "+"+strings.Join(off, " +")); err != nil {
		g.controllers = slices.DeleteFunc(g.controllers, func(c string) bool { return slices.Contains(off, c) })
	}
	return g, nil
}

// sweep removes groups that were left behind on a machine too busy to end their processes in time. It leaves groups
// with processes, and those that a host may have just made.
func (g *Groups) sweep() {
	entries, _ := os.ReadDir(g.dir)
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasPrefix(e.Name(), groupPrefix) && time.Since(info.ModTime()) > time.Minute {
			_ = unix.Rmdir(path.Join(g.dir, e.Name()))
		}
	}
}

// findGroups finds the group in which others may be made, and changes nothing. Write access is not enough: service
// managers want to be the only ones that divide theirs. It must be one that systemd has marked as delegated
// (Delegate=yes; systemd 251 or later), or the root that a container, or a machine without systemd, shows.
func findGroups() (*Groups, error) {
	own, mount, err := ownGroup()
	if err != nil {
		return nil, err
	}
	g := &Groups{dir: path.Join(mount, own), inside: true}
	if own != "/" && !delegated(g.dir) {
		// The manager may have put this process into a group below the delegated one (DelegateSubgroup=).
		if g.dir, g.inside = path.Dir(g.dir), false; !delegated(g.dir) {
			return nil, fmt.Errorf("the control group %s was not delegated to this process", own)
		}
	}
	for _, name := range []string{"", "cgroup.procs", "cgroup.subtree_control"} {
		if err := unix.Access(path.Join(g.dir, name), unix.W_OK); err != nil {
			return nil, fmt.Errorf("the control group %s cannot be written to: %w", g.dir, err)
		}
	}
	if _, err := os.Stat(path.Join(g.dir, "cgroup.type")); errors.Is(err, fs.ErrNotExist) {
		g.inside = false // the root may both hold processes and bound those below it
	}
	available := words(path.Join(g.dir, "cgroup.controllers"))
	if g.inside && !slices.Equal(words(path.Join(g.dir, "cgroup.procs")), []string{strconv.Itoa(os.Getpid())}) {
		available = nil // other processes in it are not ours to move
	}
	for _, c := range []string{memoryController, tasksController, cpuController} {
		if slices.Contains(available, c) {
			g.controllers = append(g.controllers, c)
		}
	}
	return g, nil
}

func ownGroup() (own, mount string, err error) {
	const none = "there are no control groups of version 2"
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", "", fmt.Errorf(none+": %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if at, ok := strings.CutPrefix(line, "0::"); ok {
			own = strings.TrimSuffix(at, "\n")
		}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || own == "" {
		return "", "", errors.Join(errors.New(none), err)
	}
	for line := range strings.Lines(string(mounts)) {
		// The file system type follows the dash. Before it, the fourth field is which of its directories is mounted,
		// and the fifth is where.
		fields := strings.Fields(line)
		if dash := slices.Index(fields, "-"); dash < 5 || len(fields) < dash+2 || fields[dash+1] != "cgroup2" {
			continue
		}
		below, ok := strings.CutPrefix(own, strings.TrimSuffix(fields[3], "/"))
		if ok && (below == "" || below[0] == '/') {
			return path.Join("/", below), fields[4], nil
		}
	}
	return "", "", errors.New("control groups of version 2 are not mounted")
}

// delegated reports whether systemd left a group to its processes. It says so in an attribute that only the group's
// owner can set.
func delegated(dir string) bool {
	value := make([]byte, 1)
	n, err := unix.Getxattr(dir, "user.delegate", value)
	return err == nil && string(value[:n]) == "1"
}

// words returns what a file of the kernel lists; nil if it cannot be read.
func words(name string) []string {
	text, _ := os.ReadFile(name)
	return strings.Fields(string(text))
}

// put makes no file: what the kernel does not have must be an error.
func put(dir, name, value string) error {
	f, err := os.OpenFile(path.Join(dir, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

func (g *Groups) bounds(controller string) bool {
	return g != nil && slices.Contains(g.controllers, controller)
}

// New makes an empty group for one program; nil if none can be made here. Remove it in any case.
func (g *Groups) New() (*Group, error) {
	if g == nil {
		return nil, nil
	}
	dir, err := os.MkdirTemp(g.dir, groupPrefix)
	if err != nil {
		return nil, fmt.Errorf("making a control group: %w", err)
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	return &Group{dir: f, controllers: g.controllers}, nil
}

// Group is the control group of one program and all that it starts. The methods work on nil.
type Group struct {
	dir         *os.File
	controllers []string
}

// limit bounds what is in the group. maxMemory is in bytes; 0 is no limit. It adds what the program's own file system
// may hold, which is memory too, and a quarter for page tables and what the kernel keeps for it.
func (g *Group) limit(maxMemory uint64) error {
	var errs []error
	for _, c := range g.controllers {
		switch c {
		case memoryController:
			if maxMemory == 0 {
				continue
			}
			errs = append(errs, put(g.dir.Name(), "memory.max", strconv.FormatUint(maxMemory/4*5+MaxDisk, 10)),
				put(g.dir.Name(), "memory.oom.group", "1"))
			// Else it could take the machine's swap. A kernel without swap has no such file.
			if err := put(g.dir.Name(), "memory.swap.max", "0"); !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		case tasksController:
			errs = append(errs, put(g.dir.Name(), "pids.max", strconv.Itoa(MaxThreads)))
		case cpuController:
			errs = append(errs, put(g.dir.Name(), "cpu.weight", cpuWeight))
		}
	}
	return errors.Join(errs...)
}

// BoundsThreads reports whether the kernel bounds the threads of the group's processes.
func (g *Group) BoundsThreads() bool {
	return g != nil && slices.Contains(g.controllers, tasksController)
}

// OutOfMemory reports whether the kernel ended a process of the group for exceeding its memory limit.
func (g *Group) OutOfMemory() bool {
	if g == nil {
		return false
	}
	events := words(path.Join(g.dir.Name(), "memory.events"))
	i := slices.Index(events, "oom_kill")
	return i >= 0 && i+1 < len(events) && events[i+1] != "0"
}

// Kill sends SIGKILL to all processes in the group, even those being made. Kernels before 5.14 cannot do that; the
// caller's other means remain.
func (g *Group) Kill() {
	if g != nil {
		_ = put(g.dir.Name(), "cgroup.kill", "1")
	}
}

func (g *Group) Remove() error {
	if g == nil {
		return nil
	}
	defer g.dir.Close()
	return removeGroup(g.dir.Name())
}

// removeTime is how long a group of killed processes may stay as full as it is. It bounds the wait for processes that
// the kernel cannot end, not for many of them on a busy machine.
const removeTime = 2 * time.Second

// removeGroup kills what is left in a group, and removes it once those processes are gone.
func removeGroup(dir string) error {
	_ = put(dir, "cgroup.kill", "1")
	busy := unix.Rmdir(dir)
	if !errors.Is(busy, unix.EBUSY) {
		return busy
	}
	events, err := os.Open(path.Join(dir, "cgroup.events"))
	if err != nil {
		return err
	}
	defer events.Close()
	for left := processesIn(dir); populated(events); {
		empty := []unix.PollFd{{Fd: int32(events.Fd()), Events: unix.POLLPRI}}
		if n, err := unix.Poll(empty, int(removeTime.Milliseconds())); n > 0 || err != nil {
			continue // err: a signal arrived
		}
		before := left
		if left = processesIn(dir); left >= before {
			return busy
		}
	}
	return unix.Rmdir(dir)
}

// processesIn returns how many processes are in a group, without those that only wait to be reaped.
func processesIn(dir string) int { return len(words(path.Join(dir, "cgroup.procs"))) }

// populated reads a group's open file of events. A poll of the file waits for a change of what was read last.
func populated(events *os.File) bool {
	text := make([]byte, 128)
	n, _ := events.ReadAt(text, 0)
	return strings.Contains(string(text[:n]), "populated 1")
}
