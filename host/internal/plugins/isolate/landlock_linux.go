package isolate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	readFile = unix.LANDLOCK_ACCESS_FS_READ_FILE
	readTree = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	runTree  = readTree | unix.LANDLOCK_ACCESS_FS_EXECUTE
	// onFiles is what a rule about a file rather than a directory may allow.
	onFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// landlockABI returns the version of the kernel's Landlock; 0 if there is none, or it is disabled.
func landlockABI() int {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(abi)
}

// handled returns every kind of file access that this version can forbid. A kernel refuses a ruleset with an unknown
// bit.
func handled(abi int) uint64 {
	// The thirteen rights of the first version end with making symbolic links.
	const first = unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1
	access := uint64(first)
	if abi >= 2 {
		access |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		access |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 5 {
		access |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return access
}

// signalsABI is the first Landlock version that can restrict signals and abstract sockets.
const signalsABI = 6

// landlockGuardsSignals needs both measures: one ruleset holds the rights to files and the scope of signals.
func landlockGuardsSignals(spec Spec) bool {
	return landlockABI() >= signalsABI && slices.Contains(spec.Apply, Signals) && slices.Contains(spec.Apply, Files)
}

// systemFiles are what any program may read, or run. Missing ones are left out.
var (
	systemTrees = []string{"/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin"}
	systemReads = []string{"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/localtime", "/etc/alternatives",
		// what runtimes ask about their own process only
		"/proc/self",
		// programs with OpenSSL end where it cannot be read
		"/etc/ssl/openssl.cnf", "/etc/pki/tls/openssl.cnf", "/etc/crypto-policies"}
	// networkReads are names and certificates.
	networkReads = []string{
		"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/services", "/etc/gai.conf", "/etc/ssl/certs",
		"/etc/ssl/cert.pem", "/etc/pki/tls/certs", "/etc/pki/ca-trust", "/etc/ca-certificates",
		"/run/systemd/resolve",
	}
	devices = []string{"/dev/null", "/dev/full", "/dev/random", "/dev/urandom"}
)

// devicesOf returns the devices that a program has. No limit counts a shared mapping of /dev/zero, so only programs
// that may share memory get it.
func devicesOf(spec Spec) []string {
	if spec.Processes {
		return append([]string{"/dev/zero"}, devices...)
	}
	return devices
}

// Readable reports whether a program without any grant may read the file at path, which must be absolute and without
// symbolic links. It only considers what all systems have in common, not a program's own directory.
func Readable(path string) bool {
	return slices.ContainsFunc(slices.Concat(systemTrees, systemReads), func(tree string) bool {
		real, err := realPath(tree)
		return err == nil && (path == real || strings.HasPrefix(path, real+"/"))
	})
}

// limitFiles forbids all files except those that spec names and the system's. Paths of the system that cannot be opened
// are skipped; a grant that cannot be given is an error, because the user relies on it. It binds the calling thread and
// everything it starts.
func limitFiles(spec Spec) error {
	abi := landlockABI()
	attr := unix.LandlockRulesetAttr{Handled_access_fs: handled(abi)}
	if abi >= signalsABI && slices.Contains(spec.Apply, Signals) {
		attr.Scoped = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	fd, _, errno := unix.Syscall(
		unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0,
	)
	if errno != 0 {
		return fmt.Errorf("landlock_create_ruleset: %w", errno)
	}
	rules := int(fd)
	defer unix.Close(rules)

	all := handled(abi)
	allow := func(access uint64, paths ...string) error {
		for _, path := range paths {
			if err := allowPath(rules, path, access&all); err != nil && !errors.Is(err, unix.ENOENT) &&
				!errors.Is(err, unix.EACCES) {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		return nil
	}
	err := errors.Join(
		allow(runTree, systemTrees...),
		allow(readTree, systemReads...),
		allow(unix.LANDLOCK_ACCESS_FS_READ_FILE|unix.LANDLOCK_ACCESS_FS_WRITE_FILE, devicesOf(spec)...),
		allow(all, spec.RunDir),
	)
	if spec.Network {
		err = errors.Join(err, allow(readTree, networkReads...))
	}
	for _, path := range spec.Read {
		if bad := allowPath(rules, path, runTree&all); bad != nil {
			err = errors.Join(err, fmt.Errorf("what it was granted to read: %s: %w", path, bad))
		}
	}
	if !spec.Trial {
		err = errors.Join(err, allowFD(rules, binaryFD, readFile|unix.LANDLOCK_ACCESS_FS_EXECUTE))
	}
	if err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules), 0, 0); errno != 0 {
		return fmt.Errorf("landlock_restrict_self: %w", errno)
	}
	return nil
}

// allowPath needs no permission to read the file: O_PATH. The rule is for what symbolic links lead to.
func allowPath(rules int, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return allowFD(rules, fd, access)
}

// allowFD leaves out rights that only directories have: Landlock refuses them on a file.
func allowFD(rules, fd int, access uint64) error {
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= onFiles
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(
		unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)),
		0, 0, 0,
	)
	if errno != 0 {
		return fmt.Errorf("landlock_add_rule: %w", errno)
	}
	return nil
}
