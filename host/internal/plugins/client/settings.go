package client

import (
	"encoding/json"
	"fmt"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/sdk"
)

// Settings looks up what is set under strategies.<name>, checks it against what the strategy declares, and fills in
// defaults. [config.Config.Strategy] is one.
type Settings func(name string, declared []config.Spec) (map[string]any, error)

// specs converts a strategy's declared settings into rows of the settings registry, so the same code checks them, in
// the same words as the host's own.
func specs(fields []sdk.ConfigField) []config.Spec {
	out := make([]config.Spec, len(fields))
	for i, f := range fields {
		out[i] = spec(f)
	}
	return out
}

// spec's key is relative to strategies.<name>.
func spec(f sdk.ConfigField) config.Spec {
	types := map[sdk.ConfigType]config.Type{
		sdk.Boolean: config.Boolean, sdk.Integer: config.Integer, sdk.Number: config.Number,
		sdk.String: config.String,
	}
	return config.Spec{
		Key: f.Key, Type: types[f.Type], Default: f.Default, Allowed: f.Allowed, Min: f.Minimum, Max: f.Maximum,
		Meaning: f.Description,
	}
}

// Own returns a strategy's own settings with defaults filled in. settings may be nil. Errors wrap [fault.ErrBadConfig].
func Own(name string, fields []sdk.ConfigField, settings Settings) (sdk.Config, error) {
	// Never null in JSON: a plugin gets an object, even without settings.
	values := map[string]any{}
	for _, f := range fields {
		if f.Default != nil {
			values[f.Key] = f.Default
		}
	}
	if settings != nil {
		var err error
		if values, err = settings(name, specs(fields)); err != nil {
			return nil, fmt.Errorf("%w: %w", fault.ErrBadConfig, err)
		}
	}
	return json.Marshal(values)
}
