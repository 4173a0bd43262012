package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/trust"
	"github.com/thresh-dev/thresh/internal/failure"
)

// Lacking returns how the plugin directories differ from plugins.required, with a line for each plugin; nil if they
// agree. It starts nothing and asks no network.
func Lacking(set config.Plugins) error {
	if len(set.Required) == 0 {
		return nil
	}
	policy := trust.New(set.Integrity, set.LockFile, nil)
	if err := policy.CanLock(); err != nil {
		return fmt.Errorf("plugins.required: %w", err)
	}
	found := discover.Scan(set.Dirs, policy.Guard())
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(set.Required)) {
		if problem := lacking(found, policy, name, set.Required[name]); problem != "" {
			errs = append(errs, fmt.Errorf("plugins.required.%s: %s", name, problem))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return errors.Join(append(errs, errInstall)...)
}

var errInstall = failure.New(failure.Setting, "'thresh plugins install' installs what plugins.required names")

func lacking(found discover.Catalog, policy *trust.Policy, name string, want config.Required) string {
	c, ok := found.Find(name)
	if !ok {
		for _, c := range found.Candidates {
			if c.Name == name {
				return c.Path + " " + c.Problem
			}
		}
		return "it is not installed"
	}
	e, _, err := policy.Entry(c.Path)
	if err != nil {
		return err.Error()
	}
	if e.Origin == nil {
		return c.Path + " was not installed by thresh"
	}
	if sum := new(discover.Hashes).OfFile(c.Path); sum != e.SHA256 && sum != e.Was {
		return c.Path + " has changed since it was installed"
	}
	return differs(*e.Origin, want)
}

// differs says how what is installed is not what is wanted; "" if it is.
func differs(is trust.Origin, want config.Required) string {
	from, err := parse(want.Source, "")
	if err != nil {
		return "source: " + err.Error()
	}
	version := cmp.Or(from.version, want.Version)
	key := want.Key
	if key != "" {
		if key, err = canonicalKey(key); err != nil {
			return "key: " + err.Error()
		}
	}
	switch {
	case from.String() != is.Source:
		return fmt.Sprintf("it is from %s, and is wanted from %s", is.Source, from)
	case version != "" && !satisfies(is.Version, version):
		return fmt.Sprintf("version %s is installed, and %s is wanted", is.Version, version)
	case key != "" && key != is.Key:
		return fmt.Sprintf("it is signed with %s, and is wanted with %s", cmp.Or(is.Key, "no key"), key)
	}
	return ""
}

// Needed returns what plugins.required names.
func (in *Installer) Needed() []Wanted {
	var all []Wanted
	for _, name := range slices.Sorted(maps.Keys(in.Required)) {
		r := in.Required[name]
		all = append(all, Wanted{Source: r.Source, Name: name, Version: r.Version})
	}
	return all
}

// Newer is an installed plugin and the newest version that its source has, part of -o json output.
type Newer struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// Wanted is the version or range that was asked for. Newest is within a range; one version holds an upgrade back.
	Wanted  string `json:"wanted,omitempty"`
	Newest  string `json:"newest,omitempty"`
	Source  string `json:"source"`
	Problem string `json:"problem,omitempty"`
}

// Outdated reports whether there is a newer version.
func (n Newer) Outdated() bool { return n.Newest != "" && older(n.Version, n.Newest) }

// Installed returns the plugins that were installed, with what an upgrade would install.
func (in *Installer) Installed() ([]Newer, error) {
	var all []Newer
	for _, c := range discover.Scan([]string{in.dir}, in.trust.Guard()).Candidates {
		e, _, err := in.trust.Entry(c.Path)
		if err != nil {
			return nil, err
		}
		if e.Origin == nil {
			continue
		}
		n := Newer{Name: c.Name, Version: e.Origin.Version, Wanted: e.Origin.Wanted, Source: e.Origin.Source}
		if r, ok := in.Required[c.Name]; ok {
			n.Source, n.Wanted = r.Source, r.Version
		}
		all = append(all, n)
	}
	return all, nil
}

// Newest asks the sources of installed plugins what their newest versions are.
func (in *Installer) Newest(ctx context.Context, all []Newer) {
	for i := range all {
		n := &all[i]
		from, err := in.parse(Wanted{Source: n.Source, Version: n.Wanted})
		if exact(from.version) {
			from.version = ""
		}
		var releases []release
		if err == nil {
			releases, err = in.releases(ctx, from, "")
		}
		var chosen []asset
		if err == nil {
			chosen, err = releases[0].choose(n.Name, from.version, in.platform)
		}
		if err != nil {
			n.Problem = err.Error()
			continue
		}
		n.Newest = chosen[0].version
	}
}
