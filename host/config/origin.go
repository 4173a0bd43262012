package config

import (
	"cmp"
	"fmt"
)

type Layer string

// The layers, weakest first. [LayerConfigFile] replaces the two before it.
const (
	LayerDefault     Layer = "default"
	LayerUserFile    Layer = "user file"
	LayerProjectFile Layer = "project file"
	LayerConfigFile  Layer = "config file"
	LayerProfile     Layer = "profile"
	LayerEnvironment Layer = "environment"
	LayerFlag        Layer = "flag"
	LayerSession     Layer = "session"
	// LayerToken is a session of an access token.
	LayerToken Layer = "token"
)

// Origin is where a value was set. The zero value is the registry's default.
type Origin struct {
	Layer Layer `json:"layer"`
	// Profile is the profile that holds the value, in [LayerProfile].
	Profile string `json:"profile,omitempty"`
	// File is absolute and Line counts from 1; "" and 0 if the value is in no file.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Source is the environment variable, or [Override.Source].
	Source string `json:"source,omitempty"`
}

// String returns, for example, "project file /src/thresh.yaml:3" or "environment THRESH_MODEL_NAME".
func (o Origin) String() string {
	text := string(cmp.Or(o.Layer, LayerDefault))
	for _, part := range []string{o.Profile, o.place()} {
		if part != "" {
			text += " " + part
		}
	}
	return text
}

func (o Origin) place() string {
	switch {
	case o.File == "":
		return o.Source
	case o.Line == 0:
		return o.File
	default:
		return fmt.Sprintf("%s:%d", o.File, o.Line)
	}
}
