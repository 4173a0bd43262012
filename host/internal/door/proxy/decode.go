package proxy

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// errEncoding: a body is in an encoding that is not read here, such as br, or is more than maxBody when it is decoded.
var errEncoding = errors.New("the encoding of the body is not read")

// decode returns a body without its Content-Encoding; one without any as it is. The encodings are those that clients
// send: gzip, and zstd, which Codex does.
func decode(encoding string, raw []byte) ([]byte, error) {
	var plain io.Reader
	switch encoding {
	case "", "identity":
		return raw, nil
	case "gzip":
		z, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errEncoding, err)
		}
		plain = z
	case "zstd":
		// One goroutine, and no larger window than a body may be: a small body must not make a large allocation.
		z, err := zstd.NewReader(bytes.NewReader(raw),
			zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxBody))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errEncoding, err)
		}
		defer z.Close()
		plain = z
	default:
		return nil, errEncoding
	}
	var out bytes.Buffer
	if _, err := io.Copy(&out, io.LimitReader(plain, maxBody+1)); err != nil {
		return nil, fmt.Errorf("%w: %w", errEncoding, err)
	}
	if out.Len() > maxBody {
		return nil, errEncoding
	}
	return out.Bytes(), nil
}
