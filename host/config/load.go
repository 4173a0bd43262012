package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Options say where [Load] looks. The zero value suits a program started by hand. Tests set all of them.
type Options struct {
	// ConfigFile replaces the user file and the project file, and must exist. "" looks those two up; either may be
	// absent. A relative path is relative to WorkDir.
	ConfigFile string
	// WorkDir has the project file, and relative paths start from it. "" is the working directory.
	WorkDir string
	// NoProject reads no project file: what a program's own settings are is not up to the directory it runs in.
	NoProject bool
	// Profile chooses the profile, as an override of "profile" would; "" leaves it to the other layers.
	Profile string
	// Env are variables as NAME=value; the later of two with one name wins. Nil is the environment of the process. A
	// host also looks up keys of models and TMPDIR there.
	Env []string
	// Overrides are flags; later ones win.
	Overrides []Override
}

type Override struct {
	// Key is a full key; profiles.<name>.… and strategies.<name>.… are allowed.
	Key string
	// Value is a typed value, a value as JSON decodes it, or text. Nil removes an earlier override of the key.
	Value any
	// Source is named in errors and explanations, for example "--set".
	Source string
}

// ParseOverride parses a flag's "key=value". The error is an [*Error].
func ParseOverride(text, source string) (Override, error) {
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" {
		return Override{}, &Error{Origin: Origin{Layer: LayerFlag, Source: source}, Value: show(text),
			Problem: "is not allowed",
			Allowed: "key=value, such as compression.threshold=0.8"}
	}
	return Override{Key: key, Value: value, Source: source}, nil
}

// Load reads all layers. The error joins everything that is wrong, each an [*Error]. It opens settings files only:
// plugin directories need not exist, and strategies are not asked.
func Load(o Options) (*Config, error) {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	pl, err := newPlaces(o)
	if err != nil {
		return nil, fmt.Errorf("cannot tell the working directory: %w", err)
	}
	c := &Config{places: pl, env: o.Env}
	p := &problems{}
	// Weakest first.
	files := []struct {
		path     string
		name     Layer
		optional bool
	}{
		{pl.userFile(), LayerUserFile, true},
		{filepath.Join(pl.workDir, fileName), LayerProjectFile, true},
	}
	if o.NoProject {
		files = files[:1]
	}
	if o.ConfigFile != "" {
		path := o.ConfigFile
		if !filepath.IsAbs(path) {
			path = filepath.Join(pl.workDir, path)
		}
		files = files[:1]
		files[0].path, files[0].name, files[0].optional = path, LayerConfigFile, false
	}
	for _, f := range files {
		// A user without a home directory, such as a service, has no user file.
		if f.path == "" || f.name == LayerProjectFile && f.path == pl.userFile() {
			continue // in the latter case it was read as the user file
		}
		if f.name == LayerProjectFile && leaves(f.path, pl.workDir) {
			p.unread = true
			p.add("", &Error{Origin: Origin{Layer: f.name, File: f.path},
				Problem: "is a link out of the project's directory, which may come from a stranger: it is not read",
				Allowed: "a file, or the link's target with --config"})
			c.files, c.layers = append(c.files, f.path), append(c.layers, newLayer(f.name))
			continue
		}
		l, found := loadFile(f.path, f.name, f.optional, pl, p)
		if found {
			c.files = append(c.files, f.path)
		}
		c.layers = append(c.layers, l)
	}
	// What is nearer to the command wins.
	variables, stray := loadEnv(o.Env, pl, p)
	c.layers, c.stray = append(c.layers, variables), stray

	flags := newLayer(LayerFlag)
	if o.Profile != "" {
		flags.override(operator, Override{Key: keyProfile, Value: o.Profile, Source: "--profile"}, pl, p)
	}
	for _, ov := range o.Overrides {
		flags.override(operator, ov, pl, p)
	}
	c.layers = append(c.layers, flags)
	c.session = newLayer(LayerSession)
	return c.resolved(p)
}

// override adds an override to the layer, if the setter may set it.
func (l *layer) override(by Setter, ov Override, pl places, p *problems) {
	at := Origin{Layer: l.name, Source: ov.Source}
	if by.Layer == LayerToken {
		at.Layer = by.Layer
	}
	t := registry().find(ov.Key)
	switch {
	case t.problem != "":
		p.add(ov.Key, &Error{Origin: at, Key: ov.Key, Problem: t.problem, Nearest: t.nearest})
		return
	case !t.leaf:
		p.add(ov.Key, &Error{Origin: at, Key: ov.Key, Problem: "is a group of settings", Allowed: members(ov.Key)})
		return
	case ov.Value == nil:
		// Only from this layer: weaker layers apply again.
		delete(l.values, ov.Key)
		return
	}
	if e := judge(by, ov.Key, t.spec, ov.Value, at, pl); e != nil {
		p.add(t.spec.Key, e)
		return
	}
	v, bad := t.spec.check(ov.Value, false)
	if bad != nil {
		p.add(t.spec.Key, bad.in(t.spec, ov.Key, at))
		return
	}
	l.declare(t.profile, at)
	l.values[ov.Key] = setting{pl.resolve(t.spec, v, pl.workDir), at}
}

func members(group string) string {
	switch keys := registry().under(group); {
	case len(keys) > 0:
		return "one of: " + strings.Join(keys, ", ")
	case strings.HasPrefix(group, groupProfiles):
		return "profiles.<name>.<setting>"
	default:
		return "strategies.<name>.<key>"
	}
}
