package wire

import (
	"encoding/json"
	"fmt"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
	"github.com/thresh-dev/thresh/sdk/contract"
)

// ToInfo makes the answer to GetInfo. sdk names the library that serves the protocol, for logs. The only error is a
// Config default that does not marshal to JSON.
func ToInfo(i contract.Info, sdk string) (*threshv1.GetInfoResponse, error) {
	out := &threshv1.GetInfoResponse{
		Name:        validUTF8(i.Name),
		Version:     validUTF8(i.Version),
		Description: validUTF8(i.Description),
		Trigger: &threshv1.Trigger{
			Mode: triggerModes.to(i.Trigger.Mode), DefaultThreshold: i.Trigger.DefaultThreshold,
		},
		RequiresLlm: i.RequiresLLM,
		Features: &threshv1.Features{
			NeedsNetwork: i.NeedsNetwork,
			// A strategy that is only called at the threshold gains too little from a mirror to take memory for it.
			HistoryDelta: i.Trigger.Mode == contract.ModeContinuous,
		},
		Sdk: validUTF8(sdk),
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

// FromInfo reads an answer to GetInfo. It judges only the encoding. A trigger mode or setting type that this version
// does not know comes through under its protocol name, so that [contract.Info.Validate] can name it in its error.
func FromInfo(r *threshv1.GetInfoResponse) (contract.Info, error) {
	mode, known := triggerModes.from(r.GetTrigger().GetMode())
	if !known {
		mode = contract.TriggerMode(r.GetTrigger().GetMode().String())
	}
	out := contract.Info{
		Name:         r.GetName(),
		Version:      r.GetVersion(),
		Description:  r.GetDescription(),
		Trigger:      contract.Trigger{Mode: mode, DefaultThreshold: r.GetTrigger().GetDefaultThreshold()},
		RequiresLLM:  r.GetRequiresLlm(),
		NeedsNetwork: r.GetFeatures().GetNeedsNetwork(),
	}
	for _, f := range r.GetConfig() {
		field, err := fromConfigField(f)
		if err != nil {
			return contract.Info{}, err
		}
		out.Config = append(out.Config, field)
	}
	return out, nil
}

// HistoryDelta reports whether a plugin says that it mirrors histories, so that only what is new need be sent.
func HistoryDelta(r *threshv1.GetInfoResponse) bool { return r.GetFeatures().GetHistoryDelta() }

// toConfigField fails only if the default does not marshal, which [contract.Info.Validate] excludes. Minimum and
// Maximum are pointers on both sides: 0 is a valid bound.
func toConfigField(f contract.ConfigField) (*threshv1.ConfigField, error) {
	out := &threshv1.ConfigField{
		Key: validUTF8(f.Key), Type: configTypes.to(f.Type), Description: validUTF8(f.Description),
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

// fromConfigField decodes the default the way encoding/json decodes into any: numbers are float64, also for integers. A
// null default is refused, because Go would read it as no default at all.
func fromConfigField(f *threshv1.ConfigField) (contract.ConfigField, error) {
	kind, known := configTypes.from(f.GetType())
	if !known {
		kind = contract.ConfigType(f.GetType().String())
	}
	out := contract.ConfigField{
		Key: f.GetKey(), Type: kind, Description: f.GetDescription(), Allowed: f.GetAllowed(),
		Minimum: f.Minimum, Maximum: f.Maximum,
	}
	if raw := f.GetDefaultValue(); len(raw) > 0 {
		err := json.Unmarshal(raw, &out.Default)
		if err != nil || out.Default == nil { // null would read as no default
			return out, fmt.Errorf(
				"%w: setting %q: its default %.100q is not a JSON value", ErrMalformed, f.GetKey(), raw,
			)
		}
	}
	return out, nil
}

// Configuration is the content of a Configure, the first call after the handshake.
type Configuration struct {
	// HostServiceID is the id of the host's services at go-plugin's broker; 0: this host offers none.
	HostServiceID uint32
	// Config holds the strategy's own settings, with defaults filled in.
	Config contract.Config
	// LogLevel is the least severe level that the host keeps: "trace", "debug", "info", "warn" or "error".
	LogLevel string
	// MirrorBytes is the most that the plugin's mirrors of histories may take together, in bytes; 0: it keeps none;
	// nil: [DefaultMirrorBytes].
	MirrorBytes *uint64
}

// DefaultMirrorBytes is the most that a plugin's mirrors take together where the host says nothing.
const DefaultMirrorBytes = 256 << 20

// ToConfigure makes the request of a Configure.
func ToConfigure(c Configuration) *threshv1.ConfigureRequest {
	return &threshv1.ConfigureRequest{
		HostServiceId: c.HostServiceID, Config: c.Config, LogLevel: validUTF8(c.LogLevel), MirrorBytes: c.MirrorBytes,
	}
}

// FromConfigure reads the request of a Configure.
func FromConfigure(r *threshv1.ConfigureRequest) Configuration {
	return Configuration{
		HostServiceID: r.GetHostServiceId(), Config: r.GetConfig(), LogLevel: r.GetLogLevel(),
		MirrorBytes: r.MirrorBytes,
	}
}
