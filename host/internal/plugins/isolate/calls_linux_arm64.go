package isolate

import "golang.org/x/sys/unix"

var native = &architecture{audit: unix.AUDIT_ARCH_AARCH64}
