package serve

import (
	"encoding/json"
	"fmt"
	"github.com/thresh-dev/thresh/sdk"
	"io"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/thresh-dev/thresh/internal/wire"
)

// byHand answers a person who started the plugin, without a host. Without arguments the exit code is 1: a script that
// starts a plugin by mistake should notice. args begin with the program's own name.
func byHand(info sdk.Info, args []string, stdout, stderr io.Writer) int {
	flag := ""
	if len(args) == 2 {
		flag = args[1]
	}
	switch flag {
	case "--describe":
		if err := describe(stdout, info); err != nil {
			_, _ = fmt.Fprintln(stderr, "thresh:", err)
			return exitFailed
		}
		return exitDone
	case "--version":
		_, _ = fmt.Fprintln(stdout, info.Name, info.Version)
		return exitDone
	case "--help", "-h":
		usage(stdout, info, args)
		return exitDone
	}
	if len(args) > 1 {
		_, _ = fmt.Fprintf(stderr, "unknown arguments: %s\n\n", strings.Join(args[1:], " "))
		usage(stderr, info, args)
		return exitBad
	}
	usage(stderr, info, args)
	return exitFailed
}

func usage(w io.Writer, info sdk.Info, args []string) {
	// The name that it was started by, which may not be the one a host needs.
	program := "thresh-strategy-" + info.Name
	if len(args) > 0 {
		program = filepath.Base(args[0])
	}
	_, _ = fmt.Fprintf(w, "%s is the thresh strategy plugin %q, version %s.\n", program, info.Name, info.Version)
	if info.Description != "" {
		_, _ = fmt.Fprintln(w, info.Description)
	}
	_, _ = fmt.Fprintf(w, `
It is not started by hand: a thresh host starts it when a session needs it.
Name the file thresh-strategy-%s, put it into a plugin directory, check it with
"thresh plugins list", and choose it with the setting compression.strategy=%s.

  --describe   print what it declares, as JSON
  --version    print its name and version
  --attach     wait for a host that is told to use this process, for debugging
  --help       print this
`, info.Name, info.Name)
}

// description is what --describe prints. Scripts read the names, so they do not change.
type description struct {
	Name             string             `json:"name"`
	Version          string             `json:"version"`
	Description      string             `json:"description,omitempty"`
	Trigger          sdk.TriggerMode    `json:"trigger"`
	DefaultThreshold float64            `json:"defaultThreshold"`
	EarlyThreshold   float64            `json:"earlyThreshold,omitempty"`
	RequiresLLM      bool               `json:"requiresLLM"`
	Config           []fieldDescription `json:"config,omitempty"`
	ProtocolVersion  int                `json:"protocolVersion"`
	SDK              string             `json:"sdk"`
}

// fieldDescription is a [ConfigField] in JSON, with the same fields in the same order: one is converted to the other.
type fieldDescription struct {
	Key         string         `json:"key"`
	Type        sdk.ConfigType `json:"type"`
	Default     any            `json:"default,omitempty"`
	Description string         `json:"description,omitempty"`
	Allowed     []string       `json:"allowed,omitempty"`
	Minimum     *float64       `json:"minimum,omitempty"`
	Maximum     *float64       `json:"maximum,omitempty"`
}

func describe(w io.Writer, info sdk.Info) error {
	d := description{
		Name:             info.Name,
		Version:          info.Version,
		Description:      info.Description,
		Trigger:          info.Trigger.Mode,
		DefaultThreshold: info.Trigger.DefaultThreshold,
		EarlyThreshold:   info.Trigger.EarlyThreshold,
		RequiresLLM:      info.RequiresLLM,
		ProtocolVersion:  wire.ProtocolVersion,
		SDK:              sdkName(),
	}
	for _, f := range info.Config {
		d.Config = append(d.Config, fieldDescription(f))
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(d)
}

// sdkName returns the name and version of this SDK from the binary's build information; development builds have no
// version. It is in the answer to GetInfo too, to find plugins built with an old SDK.
func sdkName() string {
	const module, name = "github.com/thresh-dev/thresh", "thresh-sdk-go"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return name
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == module && m.Version != "" {
			return name + " " + m.Version
		}
	}
	return name
}

func printBad(w io.Writer, args []string, err error) {
	program := "plugin"
	if len(args) > 0 {
		program = filepath.Base(args[0])
	}
	_, _ = fmt.Fprintf(w, "%s cannot be served as a thresh strategy:\n", program)
	for line := range strings.Lines(err.Error()) {
		_, _ = fmt.Fprintf(w, "  %s\n", strings.TrimSuffix(line, "\n"))
	}
}
