package pricing

import (
	_ "embed"
	"path"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed windows.yaml
var windowsFile []byte

// Window is what a model takes and gives, in tokens; 0 is unknown.
type Window struct {
	Models []string `yaml:"models"`
	// Input is the most that a prompt may have, and Output the most that an answer may have.
	Input  int `yaml:"input"`
	Output int `yaml:"output"`
	// Seals: the model takes thinking back only behind exactly what it was made behind.
	Seals bool `yaml:"seals"`
	// AsOf is the day of the figures ("2006-01-02"), Source where they stand.
	AsOf   string `yaml:"asOf"`
	Source string `yaml:"source"`
}

//go:embed windows-base.yaml
var windowsBaseFile []byte

// windows are the rows that are kept here, and windowsBase those that are converted from a catalogue that others keep, of
// models that no row here has. A test checks their form.
var windows, windowsBase = rows(&windowsFile), rows(&windowsBaseFile)

func rows(of *[]byte) func() []Window {
	return sync.OnceValue(func() []Window {
		var file struct{ Windows []Window }
		if err := yaml.Unmarshal(*of, &file); err != nil {
			panic(err)
		}
		return file.Windows
	})
}

// WindowOf returns what is known of a model's window. Prefixes of gateways are ignored, as in [Catalog.ForModel].
func WindowOf(model string) Window {
	if w := find(windows(), model); w.Input > 0 {
		return w
	}
	return find(windowsBase(), model)
}

func find(rows []Window, model string) Window {
	for name := range bare(strings.ToLower(model)) {
		for _, w := range rows {
			for _, pattern := range w.Models {
				if ok, _ := path.Match(pattern, name); ok {
					return w
				}
			}
		}
	}
	return Window{}
}

// HoldingWindow returns the smallest window that some model has and that holds a prompt; the prompt's size if none does.
func HoldingWindow(prompt int) int {
	var sizes []int
	for _, w := range windows() {
		if w.Input >= prompt {
			sizes = append(sizes, w.Input)
		}
	}
	if len(sizes) == 0 {
		return prompt
	}
	return slices.Min(sizes)
}
