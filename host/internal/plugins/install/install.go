package install

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/trust"
	"github.com/thresh-dev/thresh/sdk"
)

// Options say where plugins are put, and what an installation may use.
type Options struct {
	// Plugins are the host's settings. The first of its Dirs is the directory.
	config.Plugins
	// WorkDir is what relative paths start from.
	WorkDir string
	Logger  hclog.Logger
	// RunDir and Version are as for [plugins.Options].
	RunDir, Version string
	LookupEnv       func(string) (string, bool)
	// Note says what a person should know meanwhile; Progress how many bytes of a file have come, of -1 if that is unknown.
	Note     func(string)
	Progress func(file string, done, of int64)
	// Transport fetches; nil is the system's.
	Transport http.RoundTripper
}

// Installer installs, upgrades and removes plugins. It is not safe for concurrent use; several of them are.
type Installer struct {
	Options
	dir      string
	trust    *trust.Policy
	web      *web
	platform string
	most     int64 // bytes of an archive, and of what is in it
}

// New returns an installer, unless the settings leave it nowhere to put plugins.
func New(o Options) (*Installer, error) {
	if len(o.Dirs) == 0 {
		return nil, errors.New("no plugin directory is set: set plugins.dirs")
	}
	in := &Installer{Options: o, dir: o.Dirs[0], trust: trust.New(o.Integrity, o.LockFile, o.Logger),
		platform: runtime.GOOS + "/" + runtime.GOARCH, most: maxUnpacked}
	registry, err := url.Parse(o.Registry)
	if err != nil {
		return nil, err
	}
	header := ""
	if o.RegistryHeader != "" {
		var ok bool
		if header, ok = o.LookupEnv(o.RegistryHeader); !ok || header == "" {
			return nil, fmt.Errorf("plugins.registryHeader: the environment has no %s", o.RegistryHeader)
		}
	}
	in.web, err = newWeb(o.Transport, registry, header, "thresh/"+o.Version)
	return in, err
}

// Wanted is what to install.
type Wanted struct {
	Source string
	// Name is the one plugin of the source; "" for all. Version is wanted unless the source says one.
	Name, Version string
	// Key is the publisher's public key, for a first installation or in place of the one that is known; "" for that.
	Key string
}

// Result is what an installation did, part of -o json output.
type Result struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// Change is installed, upgraded, downgraded, replaced (by the same version) or unchanged; Before is the version that
	// was there.
	Change string `json:"change"`
	Before string `json:"before,omitempty"`
	Source string `json:"source"`
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	// Key is the one that the release is signed with; NewKey is set if it was not known.
	Key    string `json:"key,omitempty"`
	NewKey bool   `json:"newKey,omitempty"`
	// Platforms are those that were locked.
	Platforms []string `json:"platforms,omitempty"`
	described
}

// described is what a plugin says of itself, as the lock file has it.
type described struct {
	Description  string          `json:"description,omitempty"`
	Trigger      sdk.TriggerMode `json:"trigger,omitempty"`
	RequiresLLM  bool            `json:"requiresLLM,omitempty"`
	NeedsNetwork bool            `json:"needsNetwork,omitempty"`
}

// Install installs what is wanted, or leaves it if it is there. Of several plugins of a source, those before an error are
// installed.
func (in *Installer) Install(ctx context.Context, w Wanted) (results []Result, err error) {
	unlock, err := in.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	staging, err := os.MkdirTemp(in.dir, stagingPrefix)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(staging)
	from, err := in.parse(w)
	if err != nil {
		return nil, err
	}
	if name, ok := discover.StrategyName(from.file); ok && from.path != "" && sdk.ValidName(name) {
		r, err := in.program(ctx, staging, from, name, w)
		return r, err
	}
	releases, err := in.releases(ctx, from, staging)
	if err != nil {
		return nil, err
	}
	for _, r := range releases {
		chosen, err := r.choose(w.Name, from.version, in.platform)
		if err != nil {
			return results, err
		}
		for _, a := range chosen {
			done, err := in.archive(ctx, staging, r, a, w, from.version)
			if err != nil {
				return results, fmt.Errorf("%s: %w", a.name, err)
			}
			results = append(results, done)
		}
	}
	return results, nil
}

func (in *Installer) parse(w Wanted) (from source, err error) {
	if from, err = parse(w.Source, in.WorkDir); err != nil {
		return from, err
	}
	from.version = cmp.Or(from.version, w.Version)
	if from.path == "" {
		return from, nil
	}
	info, err := os.Stat(from.path)
	if err == nil && !info.IsDir() {
		from.path, from.file = filepath.Split(from.path)
		from.path = filepath.Clean(from.path)
	}
	return from, err
}

// releases reads what a source has: one release, or those of a bundle.
func (in *Installer) releases(ctx context.Context, from source, staging string) ([]release, error) {
	if from.path != "" && strings.HasSuffix(from.file, bundleSuffix) {
		return readBundle(ctx, filepath.Join(from.path, from.file), staging, in.most)
	}
	dirs := []files{localFiles(from.path)}
	switch {
	case from.address != nil:
		dirs = []files{webFiles{in.web, from.address}}
	case from.repo != "":
		var err error
		if dirs, err = in.tagged(ctx, from); err != nil {
			return nil, err
		}
	}
	r, err := load(ctx, from, dirs...)
	if err == nil && from.version == "" && from.repo != "" && len(r.assets) == 0 {
		err = fmt.Errorf("%s: %s names no archive of a plugin: %w", r.files, r.sumsFile, errNotAnAsset)
	}
	return []release{r}, err
}

// tagged returns where a repository may have the files of the wanted version.
func (in *Installer) tagged(ctx context.Context, from source) (dirs []files, err error) {
	at := in.web.registry.JoinPath(from.repo, "releases")
	switch v := from.version; {
	case v == "":
		return []files{webFiles{in.web, at.JoinPath("latest", "download")}}, nil
	case exact(v):
		return []files{webFiles{in.web, at.JoinPath("download", "v"+v)}, webFiles{in.web, at.JoinPath("download", v)}}, nil
	}
	tags, err := in.web.tags(ctx, from.repo)
	if err != nil {
		return nil, err
	}
	newest := ""
	for v := range tags {
		if satisfies(v, from.version) && (newest == "" || older(newest, v)) {
			newest = v
		}
	}
	if newest == "" {
		return nil, fmt.Errorf("%s has no release %s", from, from.version)
	}
	return []files{webFiles{in.web, at.JoinPath("download", tags[newest])}}, nil
}

// archive installs a plugin from an archive of a release, unless it is there.
func (in *Installer) archive(ctx context.Context, staging string, r release, a asset, w Wanted, wanted string) (Result, error) {
	before, err := in.present(a.name)
	if err != nil {
		return Result{}, err
	}
	known := originOf(before)
	key, err := r.verify(cmp.Or(in.Required[a.name].Key, w.Key, known.Key))
	if err != nil {
		return Result{}, err
	}
	// Who names one version, or one archive, means it.
	if known.Version != "" && older(a.version, known.Version) && !exact(wanted) && r.from.file == "" {
		return Result{}, fmt.Errorf("%s is installed, and the newest of %s is %s: to go back, name the version (@%[3]s)",
			known.Version, r.from, a.version)
	}
	origin := trust.Origin{Source: r.from.String(), Version: a.version, Wanted: wanted, Key: key, Archives: r.archives(a)}
	if known.Source == origin.Source && known.Version == a.version {
		if sum, ok := known.Archives[a.platform]; ok && a.sum != sum {
			return Result{}, fmt.Errorf("version %s of %s is not what it was when it was installed: its checksum is %s, and was %s; "+
				"if the publisher says why, remove the plugin first", a.version, r.from, a.sum, sum)
		}
		if a.sum != "" && before.SHA256 == in.sumOf(a.name) {
			before.Origin, before.Was = &origin, "" // with what is wanted now
			return in.result(before, "unchanged", known, key), in.trust.Lock([]trust.Entry{before})
		}
	}
	packed := filepath.Join(staging, a.file)
	if err := in.fetch(ctx, r.files, a, packed); err != nil {
		return Result{}, err
	}
	program := filepath.Join(staging, discover.FileName(a.name))
	if err := unpack(packed, a.name, program, in.most); err != nil {
		return Result{}, fmt.Errorf("%s: %w", a.file, err)
	}
	return in.place(ctx, program, a.name, origin, before)
}

// program installs a program from a file of this machine.
func (in *Installer) program(ctx context.Context, staging string, from source, name string, w Wanted) ([]Result, error) {
	if w.Name != "" && w.Name != name {
		return nil, fmt.Errorf("%s is not %s", from, w.Name)
	}
	before, err := in.present(name)
	if err != nil {
		return nil, err
	}
	if key := cmp.Or(in.Required[name].Key, w.Key, originOf(before).Key); key != "" {
		return nil, fmt.Errorf("%s: a program by itself is not signed, and must be with the key %s: install an archive that is, "+
			"or remove the plugin first", from, key)
	}
	file, _, err := localFiles(from.path).open(ctx, from.file, in.most)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	staged := filepath.Join(staging, from.file)
	if err := writeNew(staged, file); err != nil {
		return nil, err
	}
	r, err := in.place(ctx, staged, name, trust.Origin{Source: from.String(), Wanted: w.Version}, before)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return []Result{r}, nil
}

// fetch writes an archive to a file, and checks it.
func (in *Installer) fetch(ctx context.Context, f files, a asset, target string) error {
	r, size, err := f.open(ctx, a.file, in.most)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the checksums name an archive that is not there: %w", err)
	}
	if err != nil {
		return err
	}
	defer r.Close()
	out, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	sum, counted := sha256.New(), &counter{file: a.file, of: size, show: in.Progress}
	_, err = io.Copy(io.MultiWriter(out, sum, counted), r)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); a.sum != "" && got != a.sum {
		return fmt.Errorf("%s: the checksum of %s is wrong: it is %s, and should be %s", f, a.file, got, a.sum)
	}
	return nil
}

type counter struct {
	file     string
	done, of int64
	show     func(file string, done, of int64)
}

func (c *counter) Write(p []byte) (int, error) {
	c.done += int64(len(p))
	c.show(c.file, c.done, c.of)
	return len(p), nil
}

func (in *Installer) result(e trust.Entry, change string, before trust.Origin, key string) Result {
	r := Result{Change: change, Before: before.Version, Path: e.Path, SHA256: e.SHA256, Key: key,
		NewKey: key != "" && key != before.Key, Source: e.Origin.Source, Version: e.Origin.Version}
	r.Name, _ = discover.StrategyName(filepath.Base(e.Path))
	_ = json.Unmarshal(e.Info, &r.described) // written by this program
	for platform := range e.Origin.Archives {
		r.Platforms = append(r.Platforms, platform)
	}
	slices.Sort(r.Platforms)
	return r
}

func originOf(e trust.Entry) trust.Origin {
	if e.Origin == nil {
		return trust.Origin{}
	}
	return *e.Origin
}

// look asks a program in a directory of its own what it is, under isolation.
func (in *Installer) look(ctx context.Context, dir, name string) (trust.Entry, error) {
	for _, c := range discover.Scan([]string{dir}, in.trust.Guard()).Candidates {
		if c.Name == name && c.Problem != "" {
			return trust.Entry{}, fmt.Errorf("%s %s", discover.FileName(name), c.Problem)
		}
	}
	set := in.Plugins
	set.Dirs, set.LockFile = []string{dir}, ""
	m := plugins.New(plugins.Options{Plugins: set, Logger: in.Logger, HostVersion: in.Version, RunDir: in.RunDir})
	e, err := m.Look(ctx, name)
	return e, errors.Join(err, m.Close())
}
