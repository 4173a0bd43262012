package process

const (
	// loopback is set if go-plugin listens on a TCP port, which all users of the machine can reach, and not on a socket
	// in a private directory. Each side then proves itself with a certificate that is made for this one process.
	loopback = true
	// maxSocketPath bounds nothing here.
	maxSocketPath = 1 << 15
)
