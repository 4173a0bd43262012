package client

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk/contract"
)

// Bounds of what a plugin says about itself: it is shown to people and kept for as long as the host runs.
const (
	// These limits are far above real plugins.
	maxVersion      = 100     // bytes
	maxDescription  = 500     // bytes
	maxConfigFields = 200     // settings
	maxKey          = 100     // bytes of a setting's key
	maxAllowed      = 100     // values of one setting
	maxAllowedValue = 200     // bytes of one of them
	maxDefault      = 4 << 10 // bytes of a default in JSON
	// maxRecord is how much of the lock file one plugin takes, in bytes. Hosts of one user share that file, and a
	// plugin that made it too large to be read would stop all others.
	maxRecord = 256 << 10
)

// checkInfo checks what a plugin reports about itself and returns it in a form that is safe to print: a description
// could contain terminal escape sequences. name is the one in the file's name; both must agree, because users refer to
// strategies by it in settings and grants.
//
// The error is a [fault.ErrBadInfo], for which a restart is useless: the same file will say the same again.
func checkInfo(name string, info contract.Info) (contract.Info, error) {
	// Clipped, not refused: a description is for people, and too long a one does no harm.
	info.Description = text.Printable(info.Description, maxDescription)
	switch v := info.Version; {
	case !contract.ValidName(info.Name):
		return contract.Info{}, badInfo(
			"its name %q is not of lower-case letters, digits and single hyphens", text.Printable(info.Name, 100),
		)
	case info.Name != name:
		return contract.Info{}, badInfo("it reports the name %q, but the file's name is %q: rename the file to %s%s",
			info.Name, name, discover.FilePrefix, info.Name)
	// The version is compared and written to the lock file, so that it is refused rather than cut.
	case v == "" || len(v) > maxVersion || text.Printable(v, maxVersion) != v:
		return contract.Info{}, badInfo(
			"its version %q is empty, too long or not printable", text.Printable(v, maxVersion),
		)
	case !info.Trigger.Mode.Known():
		return contract.Info{}, badInfo("its trigger mode is %v, neither continuous nor threshold", info.Trigger.Mode)
	}
	if t := info.Trigger.DefaultThreshold; !(t > 0 && t <= 1) { // so written, it refuses NaN too
		return contract.Info{}, badInfo("its default threshold %v is not above 0 and at most 1", t)
	}
	fields, err := checkConfigFields(info.Config)
	if err != nil {
		return contract.Info{}, err
	}
	info.Config = fields
	return info, nil
}

// badInfo returns a [fault.ErrBadInfo].
func badInfo(format string, args ...any) error {
	return fmt.Errorf("%w: %w", fault.ErrBadInfo, fmt.Errorf(format, args...))
}

// checkConfigFields checks the settings that a plugin declares, and returns a copy with checked defaults.
func checkConfigFields(declared []contract.ConfigField) ([]contract.ConfigField, error) {
	// Before the slice is copied.
	if len(declared) > maxConfigFields {
		return nil, badInfo("it declares %d settings, at most %d are allowed", len(declared), maxConfigFields)
	}
	// Defaults are replaced below; what the plugin sent stays as it was sent.
	fields := slices.Clone(declared)
	seen := make(map[string]bool, len(fields))
	for i := range fields {
		f := &fields[i]
		f.Description = text.Printable(f.Description, maxDescription)
		switch {
		case len(f.Key) > maxKey || !contract.ValidKey(f.Key):
			return nil, badInfo(
				"setting %d: its key %q is not of letters, digits, hyphens and underscores, a letter first, in at "+
					"most %d bytes", i, text.Printable(f.Key, maxKey), maxKey,
			)
		case seen[f.Key]:
			return nil, badInfo("setting %q is declared twice", f.Key)
		case !f.Type.Known():
			return nil, badInfo("setting %q has the unknown type %v", f.Key, f.Type)
		case len(f.Allowed) > maxAllowed:
			return nil, badInfo("setting %q has %d allowed values, at most %d may be listed", f.Key, len(f.Allowed),
				maxAllowed)
		}
		for _, v := range f.Allowed {
			if len(v) > maxAllowedValue || text.Printable(v, maxAllowedValue) != v {
				return nil, badInfo("setting %q: its allowed value %q is longer than %d bytes or not printable", f.Key,
					text.Printable(v, 100), maxAllowedValue)
			}
		}
		seen[f.Key] = true
		if f.Default != nil {
			raw, _ := json.Marshal(f.Default) // it came as JSON
			if len(raw) > maxDefault {
				return nil, badInfo("setting %q: its default takes %d bytes, at most %d are allowed", f.Key, len(raw),
					maxDefault)
			}
			// In the form that a user's value has after its check.
			value, err := checkDefault(*f)
			if err != nil {
				return nil, badInfo("setting %q: its default %s %w", f.Key, text.Printable(string(raw), 100), err)
			}
			f.Default = value
		}
	}
	return fields, nil
}

// checkDefault checks a default as if a user had set it. One difference: text such as "5" is not accepted for a number
// here, although environment variables make that necessary for users.
func checkDefault(f contract.ConfigField) (any, error) {
	// The check of a user's value would take "5" for 5.
	if _, isText := f.Default.(string); isText != (f.Type == contract.String) {
		return nil, fmt.Errorf("is no %s", f.Type)
	}
	value, err := spec(f).Check(f.Default)
	if err != nil {
		return nil, fmt.Errorf("is wrong: %w", err)
	}
	return value, nil
}
