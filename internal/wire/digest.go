package wire

import (
	"encoding/binary"
	"hash/crc32"
)

// Digest identifies the state of a mirror by the bytes that made it: everything sent in chunks since the last whole
// history, including it. Both sides extend it by what is new, so it costs the same for any history.
//
// It detects two ends of one connection that ran apart, by a lost call or an eviction. It does not protect against
// forgery: anyone who can speak to a plugin can send it any history. Hence a checksum that every language has, not a
// cryptographic hash, which would cost more than decoding the history.
//
// The zero value is the digest of no bytes.
type Digest struct {
	Bytes uint64
	CRC   uint32 // IEEE, as in zlib
}

const digestSize = 12

// add extends the digest. How bytes are cut into chunks does not matter.
func (d *Digest) add(chunk []byte) {
	d.Bytes += uint64(len(chunk))
	d.CRC = crc32.Update(d.CRC, crc32.IEEETable, chunk)
}

func (d Digest) encode() []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, d.Bytes), d.CRC)
}

// decodeDigest reports ok as false for another length, as a newer host may send: it fits no mirror.
func decodeDigest(b []byte) (d Digest, ok bool) {
	if len(b) != digestSize {
		return Digest{}, false
	}
	return Digest{Bytes: binary.BigEndian.Uint64(b), CRC: binary.BigEndian.Uint32(b[8:])}, true
}
