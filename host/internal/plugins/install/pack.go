package install

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aead.dev/minisign"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/internal/atomicfile"
	"github.com/thresh-dev/thresh/internal/lazyregexp"
)

// Signer signs the checksums of a release. The zero value signs nothing.
type Signer struct{ key *minisign.PrivateKey }

// ReadSigner reads a private key of minisign. The password is for an encrypted one.
func ReadSigner(path, password string) (Signer, error) {
	text, err := atomicfile.Text(path, maxSmallFile)
	if err != nil {
		return Signer{}, fmt.Errorf("the signing key %s: %w", path, err)
	}
	var key minisign.PrivateKey
	switch {
	case !minisign.IsEncrypted(text):
		err = key.UnmarshalText(text)
	case password == "":
		err = errors.New("it is encrypted: put its password into the environment as MINISIGN_PASSWORD")
	default:
		key, err = minisign.DecryptKey(password, text)
	}
	if err != nil {
		return Signer{}, fmt.Errorf("the signing key %s: %w", path, err)
	}
	return Signer{&key}, nil
}

// Package is a release that was made of built programs.
type Package struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	Files   []string `json:"files"` // in the directory
	Key     string   `json:"key,omitempty"`
	// Program is the one for this platform.
	Program string `json:"program"`
	described
}

var platformDir = lazyregexp.New(`^([a-z0-9]+)_([a-z0-9]+)$`)

// Pack makes the files of a release in a directory that has one for each platform, such as linux_amd64, with the
// program built for it. It asks the program for this platform for its version.
func (in *Installer) Pack(ctx context.Context, dir string, sign Signer) (p Package, err error) {
	programs, err := filepath.Glob(filepath.Join(dir, "*_*", discover.FilePrefix+"*"))
	if err != nil {
		return p, err
	}
	built := map[string]string{} // by platform
	for _, path := range programs {
		platform := filepath.Base(filepath.Dir(path))
		name := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(path), ".exe"), discover.FilePrefix)
		if !platformDir().MatchString(platform) {
			continue
		}
		if p.Name != "" && p.Name != name || built[platform] != "" {
			return p, fmt.Errorf("%s: one strategy makes a release: there is %s as well as %s", dir, filepath.Base(path), p.Name)
		}
		p.Name, built[platform] = name, path
	}
	here := strings.ReplaceAll(in.platform, "/", "_")
	if p.Program = built[here]; p.Program == "" {
		return p, fmt.Errorf("%s: there is no %s: build the strategy for each platform into a directory named like that",
			dir, filepath.Join(here, discover.FileName("NAME")))
	}
	e, err := in.look(ctx, filepath.Dir(p.Program), p.Name)
	if err != nil {
		return p, err
	}
	if err := errors.Join(json.Unmarshal(e.Info, &p), json.Unmarshal(e.Info, &p.described)); err != nil {
		return p, err
	}
	if p.Version = strings.TrimPrefix(p.Version, "v"); !validVersion(p.Version) {
		return p, fmt.Errorf("%s says that it is version %q, and a release needs one such as 1.2.3", p.Name, p.Version)
	}
	return p, in.pack(dir, built, sign, &p)
}

func (in *Installer) pack(dir string, built map[string]string, sign Signer, p *Package) error {
	var sums []byte
	for _, platform := range slices.Sorted(maps.Keys(built)) {
		make, suffix := packTar, ".tar.gz"
		if strings.HasPrefix(platform, "windows_") {
			make, suffix = packZip, ".zip"
		}
		file := discover.FilePrefix + p.Name + "_" + p.Version + "_" + platform + suffix
		sum := sha256.New()
		if err := atomicfile.Write(filepath.Join(dir, file), 0o644, func(w io.Writer) error {
			return make(io.MultiWriter(w, sum), built[platform])
		}); err != nil {
			return err
		}
		sums = fmt.Appendf(sums, "%s  %s\n", hex.EncodeToString(sum.Sum(nil)), file)
		p.Files = append(p.Files, file)
	}
	small := map[string][]byte{"checksums.txt": sums}
	if sign.key != nil {
		// The trusted comment is signed, too.
		small["checksums.txt"+signatureSuffix] = minisign.SignWithComments(*sign.key, sums, p.Name+" "+p.Version, "checksums")
		public := sign.key.Public().(minisign.PublicKey)
		small[keyFile], _ = public.MarshalText() // which never fails
		p.Key = public.String()
	}
	for _, file := range slices.Sorted(maps.Keys(small)) {
		if err := atomicfile.Write(filepath.Join(dir, file), 0o644, func(w io.Writer) error {
			_, err := w.Write(small[file])
			return err
		}); err != nil {
			return err
		}
		p.Files = append(p.Files, file)
	}
	return nil
}

// packTar writes an archive that is the same for the same program, whenever it is made.
func packTar(w io.Writer, program string) error {
	packed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	out := tar.NewWriter(packed)
	return withFile(program, func(f *os.File, size int64) error {
		err := out.WriteHeader(&tar.Header{Name: filepath.Base(program), Size: size, Mode: 0o755})
		if err == nil {
			_, err = io.Copy(out, f)
		}
		return errors.Join(err, out.Close(), packed.Close())
	})
}

func packZip(w io.Writer, program string) error {
	out := zip.NewWriter(w)
	return withFile(program, func(f *os.File, _ int64) error {
		entry, err := out.CreateHeader(&zip.FileHeader{Name: filepath.Base(program), Method: zip.Deflate})
		if err == nil {
			_, err = io.Copy(entry, f)
		}
		return errors.Join(err, out.Close())
	})
}

func withFile(path string, do func(f *os.File, size int64) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return do(f, info.Size())
}
