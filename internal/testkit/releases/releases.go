// Package releases makes releases of plugins for tests, signed and not. It is for the tests of package install and of
// the commands that use it.
package releases

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"

	"aead.dev/minisign"

	"github.com/thresh-dev/thresh/internal/testkit/binaries"
)

// sample returns the program of testdata/sample.
var sample = sync.OnceValues(func() ([]byte, error) {
	built, err := binaries.Build("internal/testkit/releases/testdata/sample")
	if err != nil {
		return nil, err
	}
	return os.ReadFile(built[0])
})

// Program is the sample with a version, and words that it knows.
func Program(t testing.TB, says string) []byte {
	t.Helper()
	sample, err := sample()
	if err != nil {
		t.Fatal(err)
	}
	const length = 47
	old := fmt.Appendf(nil, "@@%-*s@@", length, "0.0.0")
	if !bytes.Contains(sample, old) {
		t.Fatal("the sample has another text")
	}
	return bytes.ReplaceAll(sample, old, fmt.Appendf(nil, "@@%-*s@@", length, says))
}

// Entry is a file of an archive; its kind is that of a regular file if it is 0.
type Entry struct {
	Name, Content, Link string
	Kind                byte
}

// TarGz is an archive with these entries.
func TarGz(t testing.TB, entries ...Entry) []byte {
	t.Helper()
	var b bytes.Buffer
	packed, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	out := tar.NewWriter(packed)
	for _, e := range entries {
		h := &tar.Header{Name: e.Name, Typeflag: e.Kind, Linkname: e.Link, Size: int64(len(e.Content)), Mode: 0o755}
		if err := out.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write([]byte(e.Content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Name is the usual one for this platform.
func Name(name, version string) string {
	return fmt.Sprintf("thresh-strategy-%s_%s_%s_%s.tar.gz", name, version, runtime.GOOS, runtime.GOARCH)
}

// Archive is an archive with a sample.
func Archive(t testing.TB, name, version, words string) []byte {
	return TarGz(t, Entry{Name: "README.md", Content: "read me"},
		Entry{Name: "thresh-strategy-" + name, Content: string(Program(t, version+" "+words))})
}

// Publisher has a key. The zero value signs nothing.
type Publisher struct {
	private minisign.PrivateKey
	Key     string
}

func NewPublisher(t testing.TB) Publisher {
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return Publisher{private, public.String()}
}

// Release returns the files of a release: the archives, their checksums, and what signs these.
func (p Publisher) Release(archives map[string][]byte) map[string][]byte {
	var sums []byte
	for _, name := range slices.Sorted(maps.Keys(archives)) {
		sums = fmt.Appendf(sums, "%x  %s\n", sha256.Sum256(archives[name]), name)
	}
	files := maps.Clone(archives)
	files["checksums.txt"] = sums
	if p.Key != "" {
		files["checksums.txt.minisig"] = minisign.Sign(p.private, sums)
		files["minisign.pub"] = []byte("untrusted comment: of a test\n" + p.Key + "\n")
	}
	return files
}

// PrivateKey is what signs, as minisign has it in a file.
func (p Publisher) PrivateKey() []byte {
	text, _ := p.private.MarshalText() // which never fails
	return text
}
