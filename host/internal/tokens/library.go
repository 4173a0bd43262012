package tokens

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	tiktoken "github.com/pkoukk/tiktoken-go"
)

// ErrNoVocabulary: an encoding's vocabulary is not part of the program, and not in the directory that
// TIKTOKEN_CACHE_DIR names. Nothing is downloaded.
var ErrNoVocabulary = errors.New("its vocabulary is not part of thresh")

// file is a vocabulary as OpenAI publishes it, with its SHA-256.
type file struct{ encoding, sum string }

// files are the vocabularies before o200k.
var files = []file{
	{cl100k, "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"}, // for the tag thresh_o200k
	{tiktoken.MODEL_P50K_BASE, "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069"},
	{tiktoken.MODEL_R50K_BASE, "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"},
}

func (f file) address() string {
	return "https://openaipublic.blob.core.windows.net/encodings/" + f.encoding + ".tiktoken"
}

// name is the file's in the directory where tiktoken-go, and OpenAI's own library, keep what they have downloaded.
func (f file) name() string {
	return fmt.Sprintf("%x", sha1.Sum([]byte(f.address())))
}

// opened are the vocabularies that were read from files, by encoding.
var opened = struct {
	sync.Mutex
	all map[string]*vocabulary
}{all: map[string]*vocabulary{}}

// fromFile returns a vocabulary that tiktoken-go counts with. Reading one takes a quarter of a second, once.
func fromFile(encoding string) (*vocabulary, error) {
	opened.Lock()
	defer opened.Unlock()
	if v := opened.all[encoding]; v != nil {
		return v, nil
	}
	known := []string{o200k}
	for _, f := range files {
		if f.encoding != encoding {
			known = append(known, f.encoding)
			continue
		}
		if err := f.check(); err != nil {
			return nil, err
		}
		codec, err := tiktoken.GetEncoding(encoding)
		if err != nil {
			return nil, fmt.Errorf("token encoding %s: %w", encoding, err)
		}
		ready := &loaded{library: &library{codec}}
		v := &vocabulary{encoding: encoding, load: func() (*loaded, error) { return ready, nil }}
		opened.all[encoding] = v
		return v, nil
	}
	return nil, fmt.Errorf("%w %q: use one of %s, or leave it out to choose by the model's name",
		ErrUnknownEncoding, encoding, strings.Join(known, ", "))
}

// check makes sure that the library finds what was published: it would download what is missing, and does not look at
// what it reads.
func (f file) check() error {
	dir := strings.TrimSpace(os.Getenv("TIKTOKEN_CACHE_DIR"))
	if dir == "" {
		return fmt.Errorf("token encoding %s: %w; download %s into a directory, as %s, and name the directory in "+
			"TIKTOKEN_CACHE_DIR", f.encoding, ErrNoVocabulary, f.address(), f.name())
	}
	path := filepath.Join(dir, f.name())
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("token encoding %s: %w, and not in TIKTOKEN_CACHE_DIR: %w; download %s as %s",
			f.encoding, ErrNoVocabulary, err, f.address(), path)
	}
	if fmt.Sprintf("%x", sha256.Sum256(text)) != f.sum {
		return fmt.Errorf("token encoding %s: %w, and %s is not the published one; download %s again",
			f.encoding, ErrNoVocabulary, path, f.address())
	}
	return nil
}

// library counts with tiktoken-go.
type library struct{ codec *tiktoken.Tiktoken }

// most is how many bytes the library gets at a time, because it takes quadratic time where a text has no place to
// split. A cut at another place than a [safeCut] may change the count by a token or two.
const most = 1 << 10

func (l *library) count(ctx context.Context, s string) (total int, err error) {
	for s != "" {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		end := len(s)
		if end > most {
			for end = safeCut(s[:most], most/2); end > most-utf8.UTFMax && !utf8.RuneStart(s[end]); {
				end--
			}
		}
		total += len(l.codec.EncodeOrdinary(s[:end]))
		s = s[end:]
	}
	return total, nil
}
