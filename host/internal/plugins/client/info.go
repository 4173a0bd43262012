package client

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk"
)

// Bounds of what a plugin says about itself, which the host keeps for as long as it runs. They are far above real
// plugins.
const (
	maxVersion      = 100     // bytes
	maxDescription  = 500     // bytes
	maxConfigFields = 200     // settings
	maxKey          = 100     // bytes of a setting's key
	maxAllowed      = 100     // values of one setting
	maxAllowedValue = 200     // bytes of one of them
	maxDefault      = 4 << 10 // bytes of a default in JSON
	// maxRecord is how many bytes of the lock file one plugin takes. All hosts of a user share that file: a plugin that
	// made it too large to read would stop all others.
	maxRecord = 256 << 10
)

// checkInfo returns what a plugin reports about itself in a form that is safe to print: a description could contain
// terminal escape sequences. The name in the file's name must agree, because users refer to strategies by it in
// settings and grants. The error is a [fault.ErrBadInfo], for which a restart is useless.
func checkInfo(name string, info sdk.Info) (sdk.Info, error) {
	// Clipped, not refused: too long a description does no harm.
	info.Description = text.Printable(info.Description, maxDescription)
	switch v := info.Version; {
	case !sdk.ValidName(info.Name):
		return sdk.Info{}, badInfo(
			"its name %q is not of lower-case letters, digits and single hyphens", text.Printable(info.Name, 100),
		)
	case info.Name != name:
		return sdk.Info{}, badInfo("it reports the name %q, but the file's name is %q: rename the file to %s%s",
			info.Name, name, discover.FilePrefix, info.Name)
	// The version is compared and written to the lock file, so it is refused rather than cut.
	case v == "" || len(v) > maxVersion || text.Printable(v, maxVersion) != v:
		return sdk.Info{}, badInfo(
			"its version %q is empty, too long or not printable", text.Printable(v, maxVersion),
		)
	case !info.Trigger.Mode.Known():
		return sdk.Info{}, badInfo("its trigger mode is %v, neither continuous nor threshold", info.Trigger.Mode)
	}
	if t := info.Trigger.DefaultThreshold; !(t > 0 && t <= 1) { // refuses NaN too
		return sdk.Info{}, badInfo("its default threshold %v is not above 0 and at most 1", t)
	}
	if t := info.Trigger; !(t.EarlyThreshold >= 0 && t.EarlyThreshold <= t.DefaultThreshold) {
		return sdk.Info{}, badInfo("its early threshold %v is not between 0 and its default threshold %v",
			t.EarlyThreshold, t.DefaultThreshold)
	}
	fields, err := checkConfigFields(info.Config)
	if err != nil {
		return sdk.Info{}, err
	}
	info.Config = fields
	return info, nil
}

func badInfo(format string, args ...any) error {
	return fmt.Errorf("%w: %w", fault.ErrBadInfo, fmt.Errorf(format, args...))
}

// checkConfigFields returns a copy of the declared settings, with checked defaults.
func checkConfigFields(declared []sdk.ConfigField) ([]sdk.ConfigField, error) {
	if len(declared) > maxConfigFields {
		return nil, badInfo("it declares %d settings, at most %d are allowed", len(declared), maxConfigFields)
	}
	fields := slices.Clone(declared)
	seen := make(map[string]bool, len(fields))
	for i := range fields {
		f := &fields[i]
		f.Description = text.Printable(f.Description, maxDescription)
		switch {
		case len(f.Key) > maxKey || !sdk.ValidKey(f.Key):
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
			value, err := checkDefault(*f)
			if err != nil {
				return nil, badInfo("setting %q: its default %s %w", f.Key, text.Printable(string(raw), 100), err)
			}
			f.Default = value
		}
	}
	return fields, nil
}

// checkDefault checks a default as if a user had set it, except that text such as "5" is not accepted for a number:
// only environment variables need that.
func checkDefault(f sdk.ConfigField) (any, error) {
	if _, isText := f.Default.(string); isText != (f.Type == sdk.String) {
		return nil, fmt.Errorf("is no %s", f.Type)
	}
	value, err := spec(f).Check(f.Default)
	if err != nil {
		return nil, fmt.Errorf("is wrong: %w", err)
	}
	return value, nil
}
