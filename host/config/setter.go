package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/internal/failure"
)

// Who may set what. A project's file is read because it is in the working directory, so anyone may have written it. It
// chooses among what the user has; it does not decide which programs run, what confines them, for how long and at what
// cost, or where conversations and keys go. A session of an access token belongs to someone else: it sets what
// strategies do with its own history, and what only its agent knows, such as its model. Each setting's row has the rule
// ([Spec.By]); only [judge] applies it, for files and for sessions of every door.

// Setters are who may set a setting besides whoever runs the host, who sets everything, in a file, the environment or a
// flag. The zero value is no one else: a new setting is closed until its row says otherwise.
type Setters uint8

const (
	// ByProject is a project's file ([LayerProjectFile]).
	ByProject Setters = 1 << iota
	// BySession is a session of the local user ([LayerSession]). Without it the setting is for the whole host.
	BySession
	// ByToken is a session of an access token ([LayerToken]).
	ByToken
	// ByGrant is a session of an access token that was granted the value.
	ByGrant
)

// inProfile is the most that others may set in a profile: a token's profiles are what it was granted.
const inProfile = ByProject | BySession

// ErrFixed is returned for a setting that cannot be changed, or no longer.
var ErrFixed = failure.New(failure.Setting, "cannot be changed")

var errPerHost = fmt.Errorf("%w for one session: it concerns the whole host", ErrFixed)

// MaySet reports whether a layer may set the setting; a token perhaps only to a granted value.
func (s Spec) MaySet(l Layer) bool {
	switch l {
	case LayerDefault, LayerUserFile, LayerConfigFile, LayerEnvironment, LayerFlag:
		return true
	case LayerProjectFile:
		return s.By&ByProject != 0
	case LayerSession:
		return s.By&BySession != 0
	case LayerToken:
		return s.By&(ByToken|ByGrant) != 0
	}
	return false
}

// PerHost reports whether the setting is for the whole host: no session may set it, and a change needs a restart.
func (s Spec) PerHost() bool { return !s.MaySet(LayerSession) }

// Setter is who sets settings. The zero value may set nothing.
type Setter struct {
	// Layer is [LayerSession] for the local user's sessions, [LayerToken] for others'.
	Layer Layer
	// Token is the access token's name; Profiles are those it may choose by name.
	Token    string
	Profiles []string
}

// operator is whoever runs the host.
var operator = Setter{Layer: LayerFlag}

// MaySet returns an [*Error] if the setter may not set key to value. It does not check key and value.
func (c *Config) MaySet(by Setter, key string, value any) error {
	t := registry().find(key)
	if !t.leaf {
		return nil
	}
	if e := judge(by, key, t.spec, value, Origin{Layer: by.Layer}, c.places); e != nil {
		return e
	}
	return nil
}

// judge returns the error for a setter who may not set s to value; nil if they may.
func judge(by Setter, key string, s Spec, value any, at Origin, pl places) *Error {
	e := &Error{Origin: at, Key: key}
	switch {
	case !s.MaySet(by.Layer) && by.Layer == LayerProjectFile:
		e.Problem, e.Allowed = "cannot be set in a project's file, which may come from a stranger", ownPlaces(key, pl)
	case !s.MaySet(by.Layer) && by.Layer == LayerSession:
		e.Err, e.Allowed = errPerHost, ownPlaces(key, pl)
	// Others do not learn the host's paths.
	case !s.MaySet(by.Layer):
		e.Problem, e.Allowed = "cannot be set with an access token", "it in the configuration of the host"
	case by.Layer == LayerToken && s.By&ByToken == 0:
		name, _ := value.(string)
		if value == nil || name != "" && slices.Contains(by.Profiles, name) {
			return nil
		}
		e.Value, e.Problem = show(value), fmt.Sprintf("is not granted to the access token %q", by.Token)
		if freeName().MatchString(name) {
			e.Allowed = fmt.Sprintf("a token that is made with: thresh access set %s --profile %s "+
				"(after: thresh access revoke %[1]s)", by.Token, name)
		}
	default:
		return nil
	}
	return e
}

// notDeclaredForTokens is the error for a strategy's own setting with a type that a token may not set. Free text may
// name a file or an address.
func notDeclaredForTokens(s Spec, key string, at Origin) *Error {
	switch {
	case at.Layer != LayerToken, s.Type == Boolean, s.Type == Integer, s.Type == Number, s.Type == Duration,
		s.Type == String && len(s.Allowed) > 0:
		return nil
	}
	return &Error{Origin: at, Key: key, Problem: "is free text, which cannot be set with an access token",
		Allowed: "it in the configuration of the host"}
}

// ownPlaces says where a setting that others may not set belongs.
func ownPlaces(key string, pl places) string {
	var in []string
	if path := pl.userFile(); path != "" {
		in = append(in, path)
	}
	in = append(in, "a file named with --config")
	if _, plain := registry().specs[key]; plain {
		in = append(in, envName(key))
	}
	return "it in " + strings.Join(in, ", ") + " or --set"
}

// checkChoice reports a project file's choice of a profile that affects a setting which the file may not set.
func (c *Config) checkChoice(chosen setting, about *layer, why string, p *problems) {
	if chosen.Origin.Layer != LayerProjectFile {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(about.values)) {
		// One is reason enough: the first by name, so the message is stable.
		if !registry().find(key).spec.MaySet(LayerProjectFile) {
			place := about.values[key].(setting).Origin.place()
			p.add(keyProfile, &Error{Origin: chosen.Origin, Key: keyProfile, Value: show(chosen.Value),
				Problem: "cannot be chosen in a project's file, which may come from a stranger: " +
					why + key + " (" + place + ")",
				Allowed: ownPlaces(keyProfile, c.places)})
			return
		}
	}
}

// leaves reports whether a path leads out of a directory, directly or by symbolic links. Errors about a file quote
// parts of it: a stranger's checkout could make them print a user's file in a log that others read. A path that does
// not exist leads nowhere.
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

func outsideOfProject(key string, at Origin, value any, pl places) *Error {
	return &Error{Origin: at, Key: key, Value: show(value), Allowed: ownPlaces(key, pl),
		Problem: "is outside of the directory of the project's file, which may come from a stranger"}
}
