package isolate

import "golang.org/x/sys/unix"

// native is what the filter must know about this processor architecture.
var native = &architecture{audit: unix.AUDIT_ARCH_AARCH64}
