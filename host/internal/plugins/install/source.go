package install

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/internal/lazyregexp"
)

// source is where a release is. One of path, address and repo is set.
type source struct {
	path    string   // absolute
	address *url.URL // of a directory; its path ends with a slash
	repo    string   // OWNER/REPO
	// file is the one file of the directory that is meant; "" for all.
	file string
	// version is what follows an @: [wanted].
	version string
}

var repository = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9_][A-Za-z0-9._-]*$`)

// parse reads a source as people write it. dir is what relative paths start from; "" refuses them.
func parse(text, dir string) (s source, err error) {
	scheme, _, web := strings.Cut(text, "://")
	repo, onGitHub := strings.CutPrefix(text, "github.com/")
	if web || onGitHub {
		slash := strings.LastIndexByte(text, '/')
		if at := strings.LastIndexByte(text, '@'); at > slash {
			text, s.version = text[:at], text[at+1:]
			repo, _, _ = strings.Cut(repo, "@")
			if err := checkWanted(s.version); err != nil {
				return s, fmt.Errorf("%s: %w", text, err)
			}
		}
	}
	switch {
	case onGitHub && repository().MatchString(repo):
		s.repo = repo
	case onGitHub:
		return s, fmt.Errorf("%q is no repository: want github.com/OWNER/REPO, with @1.2.3 or @^1.2 for a version", text)
	case web:
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return s, fmt.Errorf("%s://…: want the address of an archive, or of a directory, which ends with a slash; "+
				"without credentials and query", scheme)
		}
		if !secure(u) {
			return s, fmt.Errorf("%s: want https://, as anyone on the way could change what comes", text)
		}
		slash := strings.LastIndexByte(u.Path, '/') + 1
		s.file, s.address = u.Path[slash:], &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path[:slash]}
		if s.address.Path == "" {
			s.address.Path = "/"
		}
		if s.file != "" && s.version != "" {
			return s, fmt.Errorf("%s is one archive, with one version", text)
		}
	case filepath.IsAbs(text):
		s.path = filepath.Clean(text)
	case dir == "":
		return s, fmt.Errorf("%q: want github.com/OWNER/REPO, an https:// address, or an absolute path", text)
	default:
		s.path = filepath.Join(dir, text)
	}
	return s, nil
}

// String is the source without the version, as the lock file has it.
func (s source) String() string {
	switch {
	case s.repo != "":
		return "github.com/" + s.repo
	case s.address != nil:
		return s.address.String() + url.PathEscape(s.file)
	}
	return filepath.Join(s.path, s.file)
}

// secure reports whether no one on the way can change what an address returns.
func secure(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback())
}

// asset is an archive of a release: thresh-strategy-NAME_VERSION_OS_ARCH.tar.gz, or .zip.
type asset struct {
	file, name, version, platform string
	sum                           string // SHA-256 in hexadecimal; "" if there are no checksums
}

var assetName = lazyregexp.New(`^` + discover.FilePrefix + `([a-z0-9]+(?:-[a-z0-9]+)*)_v?([0-9][0-9A-Za-z.+-]*)_([a-z0-9]+)_([a-z0-9]+)\.(?:tar\.gz|zip)$`)

func assetOf(file string) (a asset, ok bool) {
	m := assetName().FindStringSubmatch(file)
	if m == nil || !validVersion(m[2]) {
		return asset{}, false
	}
	return asset{file: file, name: m[1], version: m[2], platform: m[3] + "/" + m[4]}, true
}

var errNotAnAsset = errors.New("its name is not that of an archive with a plugin: want " + discover.FilePrefix +
	"NAME_VERSION_OS_ARCH.tar.gz or .zip")
