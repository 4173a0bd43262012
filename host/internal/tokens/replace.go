package tokens

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

func replaceInvalid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return view(appendReplaced(nil, s))
}

// appendReplaced appends s with each byte that is not valid UTF-8 replaced by U+FFFD, as the library does.
func appendReplaced(to []byte, s string) []byte {
	n := len(to)
	to = slices.Grow(to, 3*len(s)+4) // a replacement has three bytes, and four are written at once
	to = to[:cap(to)]
	for i := 0; i < len(s); {
		if i+1 < len(s) && s[i+1]&0xc0 == follows[s[i]] {
			if _, width := utf8.DecodeRuneInString(s[i:]); width > 1 {
				n += copy(to[n:], s[i:i+width])
				i += width
				continue
			}
		}
		// Without a branch: where text is not UTF-8, a processor cannot predict which byte is ASCII.
		r := replaced[s[i]]
		binary.LittleEndian.PutUint32(to[n:], uint32(r))
		n += int(r >> 32)
		i++
	}
	return to[:n]
}

// follows has the upper two bits of what may follow a byte in valid UTF-8, or a value that no byte has. replaced has
// the replacement of a single byte, and above it the length of that.
var follows, replaced = func() (follows [256]byte, replaced [256]uint64) {
	for b := range 256 {
		follows[b], replaced[b] = 0xff, 1<<32|uint64(b)
		if b >= utf8.RuneSelf {
			replaced[b] = 3<<32 | 0xbdbfef // U+FFFD, the first byte lowest
		}
		if 0xc2 <= b && b <= 0xf4 { // the first byte of a longer character
			follows[b] = 0x80
		}
	}
	return follows, replaced
}()
