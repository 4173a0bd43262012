package wire

import (
	"encoding/json"
	"fmt"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
	"github.com/thresh-dev/thresh/sdk"
)

// ToInfo makes the answer to GetInfo. library names the library that serves the protocol, for logs. The only error is a
// Config default that does not marshal to JSON.
func ToInfo(i sdk.Info, library string) (*threshv1.GetInfoResponse, error) {
	out := &threshv1.GetInfoResponse{
		Name:        validUTF8(i.Name),
		Version:     validUTF8(i.Version),
		Description: validUTF8(i.Description),
		Trigger: &threshv1.Trigger{
			Mode: triggerModes[i.Trigger.Mode], DefaultThreshold: i.Trigger.DefaultThreshold,
			EarlyThreshold: i.Trigger.EarlyThreshold,
		},
		RequiresLlm: i.RequiresLLM,
		Features: &threshv1.Features{
			NeedsNetwork: i.NeedsNetwork,
			// A strategy that is called at the threshold only gains too little from a mirror to take memory for it.
			HistoryDelta: i.Trigger.Mode == sdk.ModeContinuous,
		},
		Sdk: validUTF8(library),
	}
	for _, f := range i.Config {
		field, err := toConfigField(f)
		if err != nil {
			return nil, err
		}
		out.Config = append(out.Config, field)
	}
	return out, nil
}

// FromInfo reads an answer to GetInfo and judges only the encoding. An unknown trigger mode or setting type comes
// through under its protocol name, so [sdk.Info.Validate] can name it in its error.
func FromInfo(r *threshv1.GetInfoResponse) (sdk.Info, error) {
	mode, known := triggerModes.from(r.GetTrigger().GetMode())
	if !known {
		mode = sdk.TriggerMode(r.GetTrigger().GetMode().String())
	}
	out := sdk.Info{
		Name:        r.GetName(),
		Version:     r.GetVersion(),
		Description: r.GetDescription(),
		Trigger: sdk.Trigger{
			Mode: mode, DefaultThreshold: r.GetTrigger().GetDefaultThreshold(),
			EarlyThreshold: r.GetTrigger().GetEarlyThreshold(),
		},
		RequiresLLM:  r.GetRequiresLlm(),
		NeedsNetwork: r.GetFeatures().GetNeedsNetwork(),
	}
	for _, f := range r.GetConfig() {
		field, err := fromConfigField(f)
		if err != nil {
			return sdk.Info{}, err
		}
		out.Config = append(out.Config, field)
	}
	return out, nil
}

// HistoryDelta reports whether a plugin mirrors histories, so only what is new need be sent.
func HistoryDelta(r *threshv1.GetInfoResponse) bool { return r.GetFeatures().GetHistoryDelta() }

// toConfigField fails only if the default does not marshal, which [sdk.Info.Validate] excludes.
func toConfigField(f sdk.ConfigField) (*threshv1.ConfigField, error) {
	out := &threshv1.ConfigField{
		Key: validUTF8(f.Key), Type: configTypes[f.Type], Description: validUTF8(f.Description),
		Minimum: f.Minimum, Maximum: f.Maximum,
	}
	for _, a := range f.Allowed {
		out.Allowed = append(out.Allowed, validUTF8(a))
	}
	if f.Default != nil {
		var err error
		if out.DefaultValue, err = json.Marshal(f.Default); err != nil {
			return nil, fmt.Errorf("default of %q: %w", f.Key, err)
		}
	}
	return out, nil
}

// fromConfigField decodes the default as any: numbers are float64, also integers. Null is refused, because Go would
// read it as no default.
func fromConfigField(f *threshv1.ConfigField) (sdk.ConfigField, error) {
	kind, known := configTypes.from(f.GetType())
	if !known {
		kind = sdk.ConfigType(f.GetType().String())
	}
	out := sdk.ConfigField{
		Key: f.GetKey(), Type: kind, Description: f.GetDescription(), Allowed: f.GetAllowed(),
		Minimum: f.Minimum, Maximum: f.Maximum,
	}
	if raw := f.GetDefaultValue(); len(raw) > 0 {
		err := json.Unmarshal(raw, &out.Default)
		if err != nil || out.Default == nil {
			return out, fmt.Errorf(
				"%w: setting %q: its default %.100q is not a JSON value", ErrMalformed, f.GetKey(), raw,
			)
		}
	}
	return out, nil
}

// Configuration is the content of a Configure, the first call after the handshake.
type Configuration struct {
	// HostServiceID is the id of the host's services at go-plugin's broker; 0 if there are none.
	HostServiceID uint32
	// Config holds the strategy's own settings, with defaults filled in.
	Config sdk.Config
	// LogLevel is the least severe level that the host keeps: "trace", "debug", "info", "warn" or "error".
	LogLevel string
	// MirrorBytes is the most bytes that all the plugin's mirrors may take; 0 for no mirrors, nil for
	// [DefaultMirrorBytes].
	MirrorBytes *uint64
}

// DefaultMirrorBytes applies if the host says nothing.
const DefaultMirrorBytes = 256 << 20

func ToConfigure(c Configuration) *threshv1.ConfigureRequest {
	return &threshv1.ConfigureRequest{
		HostServiceId: c.HostServiceID, Config: c.Config, LogLevel: validUTF8(c.LogLevel), MirrorBytes: c.MirrorBytes,
	}
}

func FromConfigure(r *threshv1.ConfigureRequest) Configuration {
	return Configuration{
		HostServiceID: r.GetHostServiceId(), Config: r.GetConfig(), LogLevel: r.GetLogLevel(),
		MirrorBytes: r.MirrorBytes,
	}
}
