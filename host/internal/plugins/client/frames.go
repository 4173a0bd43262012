package client

import "encoding/binary"

// http2Preface and http2Frame are the bytes a client sends before its first frame, and of a frame's header.
const http2Preface, http2Frame = 24, 9

const (
	frameData    = 0
	frameHeaders = 1 // in gRPC, one per request
)

// frames reads along with an HTTP/2 connection and counts requests and bytes as they arrive. gRPC refuses requests
// above its bound of concurrent streams silently, so only the wire shows a plugin that does not stop. It is for the
// goroutine that reads the connection.
type frames struct {
	of     *bounds
	begun  bool // behind the preface
	header [http2Frame]byte
	have   int // bytes of header
	skip   int // bytes until the next header
}

// read never fails: gRPC judges what is malformed.
func (f *frames) read(b []byte) {
	if !f.begun {
		f.begun, f.skip = true, http2Preface
	}
	for len(b) > 0 {
		n := min(f.skip, len(b))
		f.skip -= n
		if b = b[n:]; len(b) == 0 {
			return
		}
		// A header may arrive in two reads.
		n = copy(f.header[f.have:], b)
		b = b[n:]
		if f.have += n; f.have < http2Frame {
			return
		}
		f.have = 0
		f.skip = int(binary.BigEndian.Uint32(f.header[:4]) >> 8)
		switch f.header[3] {
		case frameData:
			f.of.received(f.skip)
		case frameHeaders:
			f.of.opened()
		}
	}
}
