package tokens

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image"
	"image/jpeg"
	"io"
	"math"
	"strings"
)

// A picture costs one token per 750 pixels, at most what the largest picture costs that providers do not shrink.
const (
	pixelsPerToken = 750
	maxImageTokens = 1600
)

// mediaRule estimates one kind of media by its size in bytes. Providers count pages and seconds, which only decoding
// would reveal. The rates are for common files and err on the high side.
type mediaRule struct {
	prefix        string // of the MIME type, in lower case
	bytesPerToken int
	least, most   int // tokens
	unknown       int // tokens if the size is unknown, because the data is remote
}

// mediaRules returns the rules. The first with a matching prefix applies; the last matches everything.
//
//	images   by their pixels (see imageTokens), else the most that an image costs
//	audio    32 tokens a second at 128 kbit/s; remote: one minute
//	video    300 tokens a second at 2.4 Mbit/s; remote: one minute
//	text     4 bytes a token; remote: as ten pages of a document
//	PDF and all other documents: 2,000 tokens a page of 50 kB, 1 to 100 pages; remote: ten pages
func mediaRules() []mediaRule {
	return []mediaRule{
		{prefix: "image/", bytesPerToken: 1, least: maxImageTokens, most: maxImageTokens, unknown: maxImageTokens},
		{prefix: "audio/", bytesPerToken: 500, least: 32, most: 1_000_000, unknown: 60 * 32},
		{prefix: "video/", bytesPerToken: 1000, least: 300, most: 1_000_000, unknown: 60 * 300},
		{prefix: "text/", bytesPerToken: 4, least: 1, most: 1_000_000, unknown: 20_000},
		{prefix: "", bytesPerToken: 25, least: 2000, most: 200_000, unknown: 20_000},
	}
}

// mediaTokens estimates media in tokens. data is base64, a data: URL, or, if remote, an address, which costs the same
// whatever its length. Empty data costs nothing.
func mediaTokens(mimeType, data string, remote bool) int {
	if data == "" {
		return 0
	}
	if inline, mime, ok := cutDataURL(data); ok {
		data, remote = inline, false
		if mimeType == "" {
			mimeType = mime
		}
	}
	mimeType = strings.ToLower(mimeType)
	if strings.HasPrefix(mimeType, "image/") && !remote {
		if n, ok := imageTokens(data); ok {
			return n
		}
	}
	for _, rule := range mediaRules() {
		if !strings.HasPrefix(mimeType, rule.prefix) {
			continue
		}
		if remote {
			return rule.unknown
		}
		size := base64.StdEncoding.DecodedLen(len(data))
		return min(max(size/rule.bytesPerToken, rule.least), rule.most)
	}
	return 0 // not reached: the last rule matches everything
}

// cutDataURL splits data:image/png;base64,iVBO… into its base64 and its MIME type.
func cutDataURL(s string) (data, mimeType string, ok bool) {
	rest, ok := strings.CutPrefix(s, "data:")
	if !ok {
		return "", "", false
	}
	head, data, ok := strings.Cut(rest, ",")
	mimeType, _, _ = strings.Cut(head, ";")
	return data, mimeType, ok && strings.HasSuffix(head, ";base64")
}

// imageTokens estimates a picture by width and height, from the beginning of the file. The picture is never decoded.
func imageTokens(data string) (tokens int, ok bool) {
	const maxHeader = 256 << 10 // a JPEG can have a preview and colour tables before its size
	head := data[:min(len(data), base64.StdEncoding.EncodedLen(maxHeader))]
	file := base64.NewDecoder(base64.StdEncoding, strings.NewReader(head))
	var start [30]byte
	n, _ := io.ReadFull(file, start[:]) // a shorter file is padded with zeros
	var size image.Config
	switch {
	case bytes.HasPrefix(start[:], []byte("\x89PNG")):
		size.Width = int(binary.BigEndian.Uint32(start[16:]))
		size.Height = int(binary.BigEndian.Uint32(start[20:]))
	case bytes.HasPrefix(start[:], []byte("GIF8")):
		size.Width = int(binary.LittleEndian.Uint16(start[6:]))
		size.Height = int(binary.LittleEndian.Uint16(start[8:]))
	case bytes.HasPrefix(start[:], []byte("RIFF")):
		size = webpSize(start)
	case bytes.HasPrefix(start[:], []byte("\xff\xd8")):
		size, _ = jpeg.DecodeConfig(io.MultiReader(bytes.NewReader(start[:n]), file)) // zero if it cannot be read
	}
	if size.Width <= 0 || size.Height <= 0 {
		return 0, false
	}
	pixels := float64(size.Width) * float64(size.Height)
	return int(min(math.Ceil(pixels/pixelsPerToken), maxImageTokens)), true
}

// webpSize reads the size from the three forms in which a WebP file can begin; zero if b is none of them.
func webpSize(b [30]byte) (size image.Config) {
	if string(b[8:12]) != "WEBP" {
		return size
	}
	switch string(b[12:16]) {
	case "VP8 ": // lossy: 14 bits each behind the frame's tag and start code
		size.Width = int(binary.LittleEndian.Uint16(b[26:]) & 0x3fff)
		size.Height = int(binary.LittleEndian.Uint16(b[28:]) & 0x3fff)
	case "VP8L": // lossless: 14 bits each, less one, behind a signature byte
		bits := binary.LittleEndian.Uint32(b[21:])
		size.Width, size.Height = int(bits&0x3fff)+1, int(bits>>14&0x3fff)+1
	case "VP8X": // extended: 24 bits each, less one, behind the flags
		size.Width, size.Height = uint24(b[24:27])+1, uint24(b[27:30])+1
	}
	return size
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
