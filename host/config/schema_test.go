package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

// The schema takes the files that the pages show, and of other files those that can be loaded.
func TestTheSchemaOfSettingsIsWhatCanBeLoaded(t *testing.T) {
	var unresolved jsonschema.Schema
	if err := json.Unmarshal(config.Schema(), &unresolved); err != nil {
		t.Fatal(err)
	}
	schema, err := unresolved.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	files := []string{
		"", "model.contextLimit: 1000", "model:\n  contextLimit: 0", "model:\n  contextLimt: 1", "modle: {}",
		"compression: 7",
		"compression:\n  threshold: 0.8", "compression:\n  threshold: 1.5", "compression:\n  hardLimit: never",
		"compression:\n  density:\n    toolPresets: [nosuch]", "compression:\n  llm:\n    cooldown: 1m30s",
		"compression:\n  llm:\n    cooldown: 90", "compression:\n  strategy: No Such",
		"profiles:\n  a:\n    provider:\n      kind: gemini",
		"profiles:\n  a:\n    model.contextLimit: 7\n    compression: {strategy: one-shot}",
		"profiles:\n  a:\n    profile: b",
		"strategies:\n  s:\n    keep: 3", "strategies:\n  s:\n    keep: [3]",
		"plugins:\n  grants:\n    s:\n      network: yes\n",
		"plugins:\n  grants:\n    s:\n      network: true", "plugins:\n  grants:\n    s:\n      sockets: true",
	}
	for _, page := range []string{"README.md", "docs/configuration.md", "docs/economics.md", "docs/production.md"} {
		text, err := os.ReadFile(repo.Path(t, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			files = append(files, block[1])
		}
	}
	for _, text := range files {
		var value map[string]any
		problem := yaml.Unmarshal([]byte(text), &value)
		if problem == nil && value != nil {
			problem = schema.Validate(value)
		}
		dir := t.TempDir()
		file := filepath.Join(dir, "thresh.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := config.Load(config.Options{WorkDir: dir, Env: []string{"HOME=" + dir}, ConfigFile: file})
		if (err == nil) != (problem == nil) {
			t.Errorf("%s\nloading says: %v\nthe schema says: %v", text, err, problem)
		}
	}
}
