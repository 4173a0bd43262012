package config

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// What a project's file may not do. It is read because it is in the working directory, so anyone may have written it.
// It chooses among what the user has. It does not decide which programs run, what they are kept from, for how long
// and at what cost, or where conversations and keys go ([Spec.Trusted]). The rule is checked twice: for each setting
// as it is read, and for the file's choice of a profile once all layers are known.

// notFromAProject is the error for a setting that a project file must not contain.
func notFromAProject(key string, at Origin, pl places) *Error {
	return &Error{Origin: at, Key: key, Allowed: trustedPlaces(key, pl),
		Problem: "cannot be set in a project's file, which may come from a stranger"}
}

// trustedPlaces says in words where a trusted setting may stand.
func trustedPlaces(key string, pl places) string {
	var in []string
	if path := pl.userFile(); path != "" {
		in = append(in, path)
	}
	in = append(in, "a file named with --config")
	// Keys in profiles have no variable.
	if _, plain := registry().specs[key]; plain {
		in = append(in, envName(key))
	}
	return "it in " + strings.Join(in, ", ") + " or --set"
}

// checkChosenProfile finds a project file whose choice of a profile does what the file itself may not do.
func (c *Config) checkChosenProfile(chosen setting, profile *layer, p *problems) {
	c.checkChoice(chosen, profile, "the profile sets ", p)
}

// checkLostProfile finds a project file whose choice of a profile disables settings that the file may not change: those
// of the profile called name, which would be in force otherwise.
func (c *Config) checkLostProfile(chosen setting, name string, profile *layer, p *problems) {
	c.checkChoice(chosen, profile, "it takes profile "+name+" out of force, which sets ", p)
}

// checkChoice reports a project file's choice of a profile if the settings that it affects include a trusted one.
func (c *Config) checkChoice(chosen setting, about *layer, why string, p *problems) {
	if chosen.Origin.Layer != LayerProjectFile {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(about.values)) {
		// One such setting is reason enough; the first by name, so that the message is the same each time.
		if registry().specs[key].Trusted {
			place := about.values[key].(setting).Origin.place()
			p.add(keyProfile, &Error{Origin: chosen.Origin, Key: keyProfile, Value: show(chosen.Value),
				Problem: "cannot be chosen in a project's file, which may come from a stranger: " +
					why + key + " (" + place + ")",
				Allowed: trustedPlaces(keyProfile, c.places)})
			return
		}
	}
}

// leaves reports whether a path leads out of a directory, as it stands or by symbolic links. Errors about a file quote
// parts of it: a stranger's checkout that names a file of the user's would make them print it, in a log that others
// read perhaps. What does not exist leads nowhere.
func leaves(path, dir string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	realDir, errDir := filepath.EvalSymlinks(dir)
	if err != nil || errDir != nil {
		realDir = dir
	}
	inside, err := filepath.Rel(realDir, real)
	return err != nil || !filepath.IsLocal(inside)
}

// outsideOfProject is the error for a project file that names a file elsewhere.
func outsideOfProject(key string, at Origin, value any, pl places) *Error {
	return &Error{Origin: at, Key: key, Value: show(value), Allowed: trustedPlaces(key, pl),
		Problem: "is outside of the directory of the project's file, which may come from a stranger"}
}
