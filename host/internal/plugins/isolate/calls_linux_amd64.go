package isolate

import "golang.org/x/sys/unix"

var native = &architecture{
	audit: unix.AUDIT_ARCH_X86_64, x32: true,
	forks: []uint32{unix.SYS_FORK, unix.SYS_VFORK},
	opens: []opening{{unix.SYS_OPEN, 1, 2}, {unix.SYS_CREAT, -1, 1}},
	// Older forms that newer architectures do not have. C libraries still use them.
	allowed: []uint32{
		unix.SYS_ACCESS, unix.SYS_ALARM, unix.SYS_ARCH_PRCTL, unix.SYS_DUP2, unix.SYS_EPOLL_CREATE,
		unix.SYS_EPOLL_WAIT, unix.SYS_EVENTFD, unix.SYS_GETDENTS, unix.SYS_GETPGRP, unix.SYS_LINK, unix.SYS_LSTAT,
		unix.SYS_MKDIR, unix.SYS_PAUSE, unix.SYS_PIPE, unix.SYS_POLL, unix.SYS_READLINK, unix.SYS_RENAME,
		unix.SYS_RMDIR, unix.SYS_SELECT, unix.SYS_SIGNALFD, unix.SYS_STAT, unix.SYS_SYMLINK, unix.SYS_TIME,
		unix.SYS_UNLINK,
	},
	refused: []uint32{
		unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_FUTIMESAT, unix.SYS_INOTIFY_INIT, unix.SYS_LCHOWN, unix.SYS_MKNOD,
		unix.SYS_UTIME, unix.SYS_UTIMES,
	},
}
