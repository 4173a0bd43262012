package sdk

import "encoding/json"

// ConfigType is the type of a strategy's setting.
type ConfigType string

const (
	Boolean ConfigType = "boolean"
	Integer ConfigType = "integer"
	Number  ConfigType = "number"
	String  ConfigType = "string"
)

// Known reports whether t is one of the types of a setting.
func (t ConfigType) Known() bool { return t == Boolean || t == Integer || t == Number || t == String }

// ConfigField declares one setting of a strategy.
type ConfigField struct {
	// Key follows the rule of [ValidKey].
	Key  string
	Type ConfigType
	// Default must be of Type; nil means that the setting is absent unless a user sets it.
	Default     any
	Description string
	// Allowed lists the values of a String; empty allows any.
	Allowed []string
	// Minimum and Maximum are inclusive bounds of an Integer or Number; nil means none.
	Minimum, Maximum *float64
}

// Config is a strategy's own settings as a JSON object, checked by the host, with defaults filled in; nil for none.
type Config json.RawMessage

// Decode stores the settings in the struct that v points to, by its json tags. Without settings v is unchanged.
func (c Config) Decode(v any) error {
	if len(c) == 0 {
		return nil
	}
	return json.Unmarshal(c, v)
}
