//go:build unix

package process

const (
	// loopback is set if go-plugin listens on a TCP port, which all users of the machine can reach, and not on a socket
	// in a private directory. Each side then proves itself with a certificate that is made for this one process.
	loopback = false
	// maxSocketPath is what sun_path holds on the strictest system (macOS), without the closing NUL.
	maxSocketPath = 103
)
