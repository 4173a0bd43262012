package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
)

// schemas are the JSON Schemas that the command prints. docs/schema holds them too, for editors that read them from the
// web; a test compares the two.
var schemas = []struct {
	name string
	text func() json.RawMessage
}{
	{"config", config.Schema},
	{"entry", transcript.EntrySchema},
}

// schemaCommand prints a JSON Schema. It reads no settings: it must work if they are wrong.
func schemaCommand(a *app) *cobra.Command {
	var names []string
	for _, s := range schemas {
		names = append(names, s.name)
	}
	want := strings.Join(names, " or ")
	return &cobra.Command{
		Use:   "schema config|entry",
		Short: "Print the JSON Schema of thresh.yaml or of a history entry",
		Long: `Prints a JSON Schema: of thresh.yaml (config), or of one entry of a history in the native form, as
JSON-RPC and native transcripts have it (entry). Editors check and complete thresh.yaml with it.`,
		Example: `  thresh config schema config > thresh.schema.json
  thresh config schema entry`,
		ValidArgs: names,
		Args: args(func(_ *cobra.Command, given []string) error {
			if len(given) != 1 || !slices.Contains(names, given[0]) {
				return fmt.Errorf("needs the name of a schema: %s", want)
			}
			return nil
		}),
		RunE: func(_ *cobra.Command, given []string) error {
			for _, s := range schemas {
				if s.name == given[0] {
					_, err := a.out.Write(s.text())
					return err
				}
			}
			return nil
		},
	}
}
