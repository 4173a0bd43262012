package tokens

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image"
	"image/jpeg"
	"testing"
)

// encodedPNG returns the base64 of the beginning of a PNG file, which is all that is looked at, padded to 1.5 kB.
func encodedPNG(width, height uint32) string {
	file := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR")
	file = binary.BigEndian.AppendUint32(file, width)
	file = binary.BigEndian.AppendUint32(file, height)
	file = append(file, bytes.Repeat([]byte{8, 6, 255}, 500)...)
	return base64.StdEncoding.EncodeToString(file)
}

func encodedJPEG(t *testing.T, width, height int) string {
	t.Helper()
	var file bytes.Buffer
	if err := jpeg.Encode(&file, image.NewGray(image.Rect(0, 0, width, height)), nil); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(file.Bytes())
}
