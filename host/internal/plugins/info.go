package plugins

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/internal/text"
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
	"github.com/thresh-dev/thresh/sdk"
)

// Bounds of what a plugin says about itself: it is shown to people and kept for as long as the host runs.
const (
	maxVersion      = 100  // bytes
	maxDescription  = 500  // bytes
	maxConfigFields = 1000 // settings
)

var keyRule = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,99}$`)

// readInfo checks what a plugin says about itself. name is the one in the file's name.
func readInfo(name string, r *threshv1.GetInfoResponse) (sdk.Info, error) {
	info := sdk.Info{
		Name:        r.GetName(),
		Version:     r.GetVersion(),
		Description: text.Printable(r.GetDescription(), maxDescription),
		RequiresLLM: r.GetRequiresLlm(),

		NeedsNetwork: r.GetFeatures().GetNeedsNetwork(),
		Trigger:      sdk.Trigger{DefaultThreshold: r.GetTrigger().GetDefaultThreshold()},
	}
	switch v := info.Version; {
	case !discover.ValidName(info.Name):
		return sdk.Info{}, badInfo("its name %q is not of lower-case letters, digits and single hyphens", text.Printable(info.Name, 100))
	case info.Name != name:
		return sdk.Info{}, badInfo("it says that its name is %q, the file says %q: rename the file to %s%s", info.Name, name, FilePrefix, info.Name)
	case v == "" || len(v) > maxVersion || text.Printable(v, maxVersion) != v:
		return sdk.Info{}, badInfo("its version %q is empty, too long or not printable", text.Printable(v, maxVersion))
	}
	switch mode := r.GetTrigger().GetMode(); mode {
	case threshv1.TriggerMode_TRIGGER_MODE_CONTINUOUS:
		info.Trigger.Mode = sdk.ModeContinuous
	case threshv1.TriggerMode_TRIGGER_MODE_THRESHOLD:
		info.Trigger.Mode = sdk.ModeThreshold
	default:
		return sdk.Info{}, badInfo("its trigger mode is %v, neither continuous nor threshold", mode)
	}
	if t := info.Trigger.DefaultThreshold; !(t > 0 && t <= 1) { // so written, it refuses NaN too
		return sdk.Info{}, badInfo("its default threshold %v is not above 0 and at most 1", t)
	}
	fields, err := readConfigFields(r.GetConfig())
	if err != nil {
		return sdk.Info{}, err
	}
	info.Config = fields
	return info, nil
}

func badInfo(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrBadInfo, fmt.Errorf(format, args...))
}

var configTypes = map[threshv1.ConfigType]sdk.ConfigType{
	threshv1.ConfigType_CONFIG_TYPE_BOOLEAN: sdk.Boolean,
	threshv1.ConfigType_CONFIG_TYPE_INTEGER: sdk.Integer,
	threshv1.ConfigType_CONFIG_TYPE_NUMBER:  sdk.Number,
	threshv1.ConfigType_CONFIG_TYPE_STRING:  sdk.String,
}

func readConfigFields(in []*threshv1.ConfigField) ([]sdk.ConfigField, error) {
	if len(in) > maxConfigFields {
		return nil, badInfo("it declares %d settings, at most %d are allowed", len(in), maxConfigFields)
	}
	var out []sdk.ConfigField
	seen := make(map[string]bool, len(in))
	for i, f := range in {
		field := sdk.ConfigField{
			Key:         f.GetKey(),
			Type:        configTypes[f.GetType()],
			Description: text.Printable(f.GetDescription(), maxDescription),
			Allowed:     f.GetAllowed(),
			Minimum:     f.Minimum,
			Maximum:     f.Maximum,
		}
		switch {
		case !keyRule.MatchString(field.Key):
			return nil, badInfo("setting %d: its key %q is not of letters, digits, hyphens and underscores, a letter first", i, text.Printable(field.Key, 100))
		case seen[field.Key]:
			return nil, badInfo("setting %q is declared twice", field.Key)
		case field.Type == "":
			return nil, badInfo("setting %q has the unknown type %v", field.Key, f.GetType())
		}
		seen[field.Key] = true
		if len(f.GetDefaultValue()) > 0 {
			value, err := readDefault(field, f.GetDefaultValue())
			if err != nil {
				return nil, badInfo("setting %q: its default %s %w", field.Key, text.Printable(string(f.GetDefaultValue()), 100), err)
			}
			field.Default = value
		}
		out = append(out, field)
	}
	return out, nil
}

// readDefault checks a default as if somebody had set it, except that text is no number here.
func readDefault(field sdk.ConfigField, raw []byte) (any, error) {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return nil, errors.New("is no JSON")
	}
	if _, isText := value.(string); isText != (field.Type == sdk.String) {
		return nil, fmt.Errorf("is no %s", field.Type)
	}
	value, err := spec(field).Check(value)
	if err != nil {
		return nil, fmt.Errorf("is wrong: %w", err)
	}
	return value, nil
}

// clone returns a copy of info that shares nothing that a caller could change.
func clone(info sdk.Info) sdk.Info {
	info.Config = slices.Clone(info.Config)
	for i := range info.Config {
		info.Config[i].Allowed = slices.Clone(info.Config[i].Allowed)
	}
	return info
}
