//go:build unix

package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
)

// guard objects to files that others than root and the user could change: they could run code as the user. It is
// immutable and safe for concurrent use.
type guard struct {
	// user is the effective user id, with which plugins would run.
	user   uint32
	groups string // path of /etc/group
}

func newGuard() *guard { return &guard{user: uint32(os.Geteuid()), groups: "/etc/group"} }

// Directory returns why nothing in a plugin directory can be trusted; "" if it can. All directories above it count: who
// can rename one of them can replace everything below.
func (g *guard) Directory(dir string) string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return fault.System(err).Error()
	}
	var stat unix.Stat_t
	if err := unix.Stat(real, &stat); err != nil {
		return err.Error()
	}
	if problem := g.status(&stat); problem != "" {
		return "the directory " + problem
	}
	for parent := filepath.Dir(real); ; parent = filepath.Dir(parent) {
		if err := unix.Stat(parent, &stat); err != nil {
			return parent + ": " + err.Error()
		}
		// In a sticky directory users cannot replace each other's files.
		if problem := g.writable(&stat); problem != "" && stat.Mode&unix.S_ISVTX == 0 {
			return "the directory above it, " + parent + ", " + problem
		}
		if parent == filepath.Dir(parent) {
			return ""
		}
	}
}

// File returns why a plugin's file cannot be trusted; "" if it can. Its directory dir has passed Directory. Symbolic
// links are followed within the directory only: elsewhere nothing was checked.
func (g *guard) File(dir, path string) string {
	realDir, real, problem := within(dir, path)
	if problem != "" {
		return problem
	}
	if sub := filepath.Dir(real); sub != realDir {
		if problem := g.Directory(sub); problem != "" {
			return "is a symbolic link into " + sub + ": " + problem
		}
	}
	var stat unix.Stat_t
	if err := unix.Stat(real, &stat); err != nil {
		return err.Error()
	}
	return g.status(&stat)
}

// status returns why an existing file or directory cannot be trusted; "" if it can.
func (g *guard) status(stat *unix.Stat_t) string {
	if stat.Uid != 0 && stat.Uid != g.user {
		return fmt.Sprintf("belongs to user %d, not to root or to user %d", stat.Uid, g.user)
	}
	return g.writable(stat)
}

// writable says who other than the owner can write to the file; "" if no one can.
func (g *guard) writable(stat *unix.Stat_t) string {
	const group, other = 0o020, 0o002
	switch {
	case stat.Mode&other != 0:
		return fmt.Sprintf("can be written to by everybody (mode %04o): chmod o-w", stat.Mode&0o7777)
	case stat.Mode&group != 0 && !g.private(stat.Uid, stat.Gid):
		return fmt.Sprintf("can be written to by its group %d (mode %04o): chmod g-w", stat.Gid, stat.Mode&0o7777)
	}
	return ""
}

// private reports whether the user is the only member of a group. Systems with a private group for each user (umask
// 002) make files group-writable, which admits no one else. An unreadable group file counts as "not private", a missing
// one as private.
func (g *guard) private(uid, gid uint32) bool {
	if uid != gid {
		return false
	}
	text, err := os.ReadFile(g.groups)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	// Read each time: a stale answer would trust a file that others can write to.
	for line := range strings.Lines(string(text)) {
		field := strings.Split(strings.TrimSpace(line), ":") // name, password, number, members
		if len(field) == 4 && field[2] == strconv.FormatUint(uint64(gid), 10) {
			return field[3] == "" || field[3] == field[0]
		}
	}
	return true
}

// opened is File for the open file itself.
func (g *guard) opened(f *os.File) string {
	var stat unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &stat); err != nil {
		return "cannot be looked at: " + err.Error()
	}
	return g.status(&stat)
}

// lockFile returns an error if the lock file belongs to somebody else, or others can write to it or to its directory. In
// a sticky directory they can put their own file there, but not replace one.
func (g *guard) lockFile(path string) error {
	var stat unix.Stat_t
	const hint = "; others could lock plugins of their own in it"
	if dir := filepath.Dir(path); unix.Stat(dir, &stat) == nil && stat.Mode&unix.S_ISVTX == 0 {
		if problem := g.writable(&stat); problem != "" {
			return fmt.Errorf("the directory of the lock file, %s, %s%s", dir, problem, hint)
		}
	}
	if unix.Stat(path, &stat) == nil {
		if problem := g.status(&stat); problem != "" {
			return fmt.Errorf("the lock file %s %s%s", path, problem, hint)
		}
	}
	return nil
}
