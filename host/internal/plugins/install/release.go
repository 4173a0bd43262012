package install

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aead.dev/minisign"

	"github.com/thresh-dev/thresh/internal/text"
)

// files are the files of a release, wherever they are. The error of open is an [fs.ErrNotExist] for a file that is not
// there.
type files interface {
	open(ctx context.Context, name string, most int64) (r io.ReadCloser, size int64, err error)
	// String is a directory, as messages have it.
	String() string
}

type webFiles struct {
	*web
	dir *url.URL
}

func (f webFiles) open(ctx context.Context, name string, most int64) (io.ReadCloser, int64, error) {
	return f.web.open(ctx, f.dir.JoinPath(name), most)
}

func (f webFiles) String() string { return f.dir.String() }

type localFiles string

func (f localFiles) open(_ context.Context, name string, most int64) (io.ReadCloser, int64, error) {
	path := filepath.Join(string(f), name)
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, 0, err
	case !info.Mode().IsRegular():
		return nil, 0, fmt.Errorf("%s: it is not a regular file", path)
	case info.Size() > most:
		return nil, 0, fmt.Errorf("%s: %w", path, tooLarge(most))
	}
	file, err := os.Open(path)
	return file, info.Size(), err
}

func (f localFiles) String() string { return string(f) }

// release is what the small files of a release say.
type release struct {
	files
	from source
	// sumsFile is the name of the file with the checksums, sums its text; "" if there is none.
	sumsFile  string
	sums      []byte
	signature []byte // nil: it is not signed
	key       string // that comes with it; "": none
	assets    []asset
}

const (
	signatureSuffix = ".minisig"
	keyFile         = "minisign.pub"
	maxSmallFile    = 1 << 20 // bytes
)

// read returns a small file; nil if there is none.
func read(ctx context.Context, f files, name string) ([]byte, error) {
	r, _, err := f.open(ctx, name, maxSmallFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	all, err := io.ReadAll(r)
	return append(make([]byte, 0, 1), all...), err
}

// load reads a release from the first of some directories that has checksums. A local archive needs none.
func load(ctx context.Context, from source, dirs ...files) (r release, err error) {
	r = release{from: from, files: dirs[0]}
	for _, f := range dirs {
		for _, name := range []string{"checksums.txt", "SHA256SUMS"} {
			if r.sums, err = read(ctx, f, name); err != nil {
				return r, err
			}
			if r.sums != nil {
				r.files, r.sumsFile = f, name
				return r, r.describe(ctx)
			}
		}
	}
	if from.path == "" || from.file == "" {
		return r, fmt.Errorf("%s: there is no checksums.txt and no SHA256SUMS, so nothing of it can be checked", dirs[0])
	}
	a, ok := assetOf(from.file)
	if !ok {
		return r, fmt.Errorf("%s: %w", from, errNotAnAsset)
	}
	r.assets = []asset{a}
	return r, nil
}

func (r *release) describe(ctx context.Context) (err error) {
	if r.assets, err = parseSums(string(r.sums)); err != nil {
		return fmt.Errorf("%s: %s: %w", r.files, r.sumsFile, err)
	}
	if file := r.from.file; file != "" {
		r.assets = slices.DeleteFunc(r.assets, func(a asset) bool { return a.file != file })
		if _, ok := assetOf(file); !ok {
			return fmt.Errorf("%s: %w", r.from, errNotAnAsset)
		}
		if len(r.assets) == 0 {
			return fmt.Errorf("%s: %s has no line for it", r.from, r.sumsFile)
		}
	}
	if r.signature, err = read(ctx, r.files, r.sumsFile+signatureSuffix); err != nil || r.signature == nil {
		return err
	}
	key, err := read(ctx, r.files, keyFile)
	if err == nil && key != nil {
		r.key, err = canonicalKey(string(key))
	}
	return err
}

// parseSums returns the archives with plugins that a file of checksums names.
func parseSums(sums string) (assets []asset, err error) {
	known := map[string]string{}
	for line := range strings.Lines(sums) {
		sum, file, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		file = strings.TrimPrefix(strings.TrimPrefix(file, " "), "*") // a star marks a binary file
		if strings.TrimSpace(line) == "" {
			continue
		}
		if raw, err := hex.DecodeString(sum); err != nil || len(raw) != 32 || file == "" {
			return nil, fmt.Errorf("this is no line of checksums: %q", text.Clip(line, 80))
		}
		a, ok := assetOf(file)
		if !ok {
			continue
		}
		a.sum = strings.ToLower(sum)
		if other, twice := known[file]; twice && other != a.sum {
			return nil, fmt.Errorf("it has two checksums of %s", file)
		} else if !twice {
			known[file] = a.sum
			assets = append(assets, a)
		}
	}
	return assets, nil
}

// choose returns the newest wanted archive of each plugin for a platform, by name. name "" is any.
func (r *release) choose(name, wanted, platform string) ([]asset, error) {
	best, others := map[string]asset{}, map[string]bool{}
	for _, a := range r.assets {
		if name != "" && a.name != name {
			continue
		}
		if !satisfies(a.version, wanted) && (wanted != "" || r.from.file == "") {
			others[a.name+" "+a.version] = true
			continue
		}
		if a.platform != platform {
			others[a.name+" "+a.version+" for "+a.platform] = true
			continue
		}
		if b, ok := best[a.name]; !ok || older(b.version, a.version) {
			best[a.name] = a
		}
	}
	if len(best) == 0 {
		what := strings.TrimSuffix(cmp.Or(name, "a plugin")+" "+wanted, " ")
		there := ""
		if len(others) > 0 {
			there = "; there is " + text.Clip(strings.Join(slices.Sorted(maps.Keys(others)), ", "), 400)
		}
		return nil, fmt.Errorf("%s: there is no archive with %s for %s%s", r.files, what, platform, there)
	}
	return slices.SortedFunc(maps.Values(best), func(a, b asset) int { return strings.Compare(a.name, b.name) }), nil
}

// archives returns the checksums of all archives of a plugin's version, by platform.
func (r *release) archives(of asset) map[string]string {
	sums := map[string]string{}
	for _, a := range r.assets {
		if a.name == of.name && a.version == of.version && a.sum != "" {
			sums[a.platform] = a.sum
		}
	}
	return sums
}

// verify returns the key that the checksums are signed with, which must be the given one if there is one; "" if they are
// not signed.
func (r *release) verify(key string) (string, error) {
	where := fmt.Sprintf("%s: %s", r.files, cmp.Or(r.sumsFile, "the release"))
	switch {
	case r.signature == nil && key == "":
		return "", nil
	case r.signature == nil:
		return "", fmt.Errorf("%s is not signed, and must be with the key %s", where, key)
	case key == "" && r.key == "":
		return "", fmt.Errorf("%s is signed, but the release has no %s: name the publisher's key with --key", where, keyFile)
	}
	var public minisign.PublicKey
	if err := public.UnmarshalText([]byte(cmp.Or(key, r.key))); err != nil {
		return "", fmt.Errorf("the key %s: %w", cmp.Or(key, r.key), err)
	}
	if minisign.Verify(public, r.sums, r.signature) {
		return public.String(), nil
	}
	if r.key != "" && r.key != public.String() {
		return "", fmt.Errorf("%s is NOT signed with the key %s, but may be with another one, %s: do not install it unless the "+
			"publisher says elsewhere that the key has changed; --key accepts a new one", where, public, r.key)
	}
	return "", fmt.Errorf("%s is NOT signed with the key %s: someone may have changed it", where, public)
}

// canonicalKey returns a public key of minisign as the lock file has it.
func canonicalKey(text string) (string, error) {
	var key minisign.PublicKey
	if err := key.UnmarshalText([]byte(strings.TrimSpace(text))); err != nil {
		return "", fmt.Errorf("this is no public key of minisign, such as RW…: %w", err)
	}
	return key.String(), nil
}
