package isolate

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A program gets its own namespaces where the machine allows that. In its mount namespace it sees only the files that
// Landlock leaves it, and so no socket of another program. In its network namespace there are no abstract sockets but
// its own, nothing outside reaches those, and /proc lists nothing. Only programs that may start others get a process
// namespace: when its first process ends, the kernel kills the rest. Others stay in the host's, because a first process
// ignores signals by default.

// namespacesOf returns the flags of clone for a launcher; 0 is no namespaces. All depend on the mount namespace, which
// the launcher makes only when told, so it includes what was mounted until then. Without root's rights, a user
// namespace comes first.
func namespacesOf(spec Spec) uintptr {
	var flags uintptr
	if slices.Contains(spec.Apply, Paths) {
		if !canMount() {
			flags |= unix.CLONE_NEWUSER
		}
		if !spec.Network {
			flags |= unix.CLONE_NEWNET
		}
		if spec.Processes && slices.Contains(spec.Apply, Ending) {
			flags |= unix.CLONE_NEWPID
		}
	}
	return flags
}

// inNamespaces returns the attributes of a process that starts in its own namespaces. In a user namespace, the user
// keeps its ids. The launcher gets the privileges to mount in it, and drops them before the program begins.
func inNamespaces(flags uintptr) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Cloneflags: flags}
	if flags&unix.CLONE_NEWUSER != 0 {
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
		a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}
	}
	return a
}

// canMount reports whether this process may make namespaces other than user namespaces. The user id says too little:
// inside a container root may lack this capability.
func canMount() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	return unix.Capget(&header, &data[0]) == nil && data[0].Effective&(1<<unix.CAP_SYS_ADMIN) != 0
}

type exposed struct {
	path string // without symbolic links
	dir  bool
	tree int // a descriptor of a detached mount
}

// view collects what a mount namespace shows. Descriptors of its trees stay open until they are mounted or the launcher
// ends.
type view struct {
	trees []exposed
	links map[string]string // by path
	host  *exposed          // the run directory as the host sees it, if the program gets another one
}

// add adds a path, and what it is a link to. needed makes an error of a path that cannot be shown.
func (v *view) add(path string, needed bool) error {
	real, err := realPath(path)
	if err != nil {
		if needed {
			return err
		}
		return nil // not every system has everything
	}
	if real != path {
		v.links[path] = real
	}
	if v.shows(real) {
		return nil
	}
	info, err := os.Stat(real)
	if err != nil {
		return err
	}
	// A clone of the mount can be attached in the new namespace after the old one is gone.
	const clone = unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_RECURSIVE
	tree, err := unix.OpenTree(unix.AT_FDCWD, real, clone)
	if err != nil {
		return fmt.Errorf("open_tree %s: %w", real, err)
	}
	v.trees = append(v.trees, exposed{real, info.IsDir(), tree})
	return nil
}

// addOpen adds an open file at the path that it was opened by: an interpreter looks there for the script, though it was
// given a descriptor. A file that was replaced or removed meanwhile is left out.
func (v *view) addOpen(fd int) error {
	path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err != nil || v.shows(path) {
		return err
	}
	// Its descriptor cannot be mounted: it is from the host's mount namespace.
	tree, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return nil
	}
	var there, ours unix.Stat_t
	if err := errors.Join(unix.Fstat(tree, &there), unix.Fstat(fd, &ours)); err != nil || there.Ino != ours.Ino ||
		there.Dev != ours.Dev {
		return errors.Join(err, unix.Close(tree))
	}
	v.trees = append(v.trees, exposed{path, false, tree})
	return nil
}

// realPath returns a path without symbolic links. It needs /proc. Package filepath has the same, but initialising it
// would delay a launcher.
func realPath(name string) (string, error) {
	fd, err := unix.Open(name, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	return os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
}

// fault returns the system's error alone: the caller names the path.
func fault(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno
	}
	return err
}

func (v *view) shows(path string) bool {
	return slices.ContainsFunc(v.trees, func(e exposed) bool {
		return path == e.path || strings.HasPrefix(path, strings.TrimSuffix(e.path, "/")+"/")
	})
}

func hideFiles(spec Spec) error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("a mount namespace: %w", err)
	}
	v := view{links: make(map[string]string)}
	var errs []error
	// /proc and /usr first: what is below a shown tree is not mounted again.
	for _, path := range slices.Concat([]string{"/proc", "/usr"}, systemTrees, systemReads, devicesOf(spec)) {
		errs = append(errs, v.add(path, false))
	}
	if spec.Network {
		for _, path := range networkReads {
			errs = append(errs, v.add(path, false))
		}
	}
	for _, path := range spec.Read {
		if err := v.add(path, true); err != nil {
			errs = append(errs, fmt.Errorf("what it was granted to read: %s: %w", path, fault(err)))
		}
	}
	errs = append(errs, v.addRunDir(spec))
	if spec.KeepBinary {
		errs = append(errs, v.addOpen(binaryFD))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	// Nothing from here on may be seen outside.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	// Any directory will do: it becomes the root.
	err := unix.Mount("plugin", spec.RunDir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=1m,nr_inodes=4k,mode=755")
	if err != nil {
		return fmt.Errorf("mounting a root: %w", err)
	}
	if err := unix.Chdir(spec.RunDir); err != nil {
		return err
	}
	// This mounts the old root over the new one.
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leaving the old root: %w", err)
	}
	if err := v.build(); err != nil {
		return err
	}
	if v.host != nil {
		if err := v.host.mountBelow(spec.RunDir); err != nil {
			return fmt.Errorf("making a file system of its own: %w", err)
		}
	}
	const readOnly = unix.MS_REMOUNT | unix.MS_BIND | unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV
	if err := unix.Mount("", "/", "", readOnly, ""); err != nil {
		return fmt.Errorf("making the root read-only: %w", err)
	}
	return unix.Chdir(spec.RunDir)
}

// addRunDir adds the run directory, or keeps it for [exposed.mountBelow].
func (v *view) addRunDir(spec Spec) error {
	if err := v.add(spec.RunDir, true); err != nil || !OwnDisk(spec.Apply) {
		return err
	}
	if i := slices.IndexFunc(v.trees, func(e exposed) bool { return e.path == spec.RunDir }); i >= 0 {
		v.host = &v.trees[i]
		v.trees = slices.Delete(slices.Clone(v.trees), i, i+1)
		return nil
	}
	return fmt.Errorf("the run directory %s is in a directory that programs may read, or is a link", spec.RunDir)
}

// mountBelow makes a file system of limited size at dir, and shows e in it, read-only. What is written there is gone
// when the last process that sees it has ended, whatever the program does.
func (e exposed) mountBelow(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	options := fmt.Sprintf("size=%d,nr_inodes=%d,mode=700", MaxDisk, MaxFiles)
	if err := unix.Mount("plugin", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return err
	}
	e.path = path.Join(dir, HostDir)
	if err := e.mount(); err != nil {
		return err
	}
	var stat unix.Statfs_t
	if err := unix.Statfs(e.path, &stat); err != nil {
		return err
	}
	// In a user namespace, restrictions that a mount has must be repeated.
	flags := uintptr(stat.Flags) & (unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC | unix.MS_NOATIME |
		unix.MS_NODIRATIME)
	if stat.Flags&stRelatime != 0 {
		flags |= unix.MS_RELATIME
	}
	return unix.Mount("", e.path, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|flags, "")
}

// stRelatime is ST_RELATIME of statfs, which package unix does not name.
const stRelatime = 0x1000

// build makes the tree in the new, empty root.
func (v *view) build() error {
	for _, e := range v.trees {
		if err := e.mount(); err != nil {
			return fmt.Errorf("%s: %w", e.path, err)
		}
	}
	for link, target := range v.links {
		if v.shows(link) {
			continue
		}
		if err := os.MkdirAll(path.Dir(link), 0o755); err != nil {
			return err
		}
		if err := os.Symlink(target, link); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return nil
}

func (e exposed) mount() error {
	defer unix.Close(e.tree)
	if err := os.MkdirAll(path.Dir(e.path), 0o755); err != nil {
		return err
	}
	var err error
	if e.dir {
		err = os.Mkdir(e.path, 0o755)
	} else {
		err = unix.Mknod(e.path, unix.S_IFREG|0o644, 0)
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return unix.MoveMount(e.tree, "", unix.AT_FDCWD, e.path, unix.MOVE_MOUNT_F_EMPTY_PATH)
}
