package pricing

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// written is a list in the form of the file: fields that are not set are left out, durations are text. Its tags are the
// keys that parse reads.
type written struct {
	Name         string   `yaml:"name"`
	Models       []string `yaml:"models,omitempty,flow"`
	Input        float64  `yaml:"input"`
	CacheRead    float64  `yaml:"cacheRead,omitempty"`
	CacheWrite   float64  `yaml:"cacheWrite,omitempty"`
	Output       float64  `yaml:"output"`
	CacheTTL     string   `yaml:"cacheTTL,omitempty"`
	CacheMinimum int      `yaml:"cacheMinimum,omitempty"`
	AsOf         string   `yaml:"asOf"`
	Source       string   `yaml:"source"`
	Note         string   `yaml:"note,omitempty"`
}

// YAML returns all lists as a file that [Load] reads. It begins with comments that explain each field, so that the
// output of 'thresh config prices -o yaml' is a template for a user's own file.
func (c *Catalog) YAML() ([]byte, error) {
	var file struct {
		Lists []written `yaml:"lists"`
	}
	for _, l := range c.lists {
		w := written{
			Name: l.Name, Models: l.Models, AsOf: l.AsOf, Source: l.Source, Note: l.Note,
			Input: l.Input, CacheRead: l.CacheRead, CacheWrite: l.CacheWrite, Output: l.Output,
			CacheMinimum: l.CacheMinimum,
		}
		// 0 is "forever" and is left out, as it is the default.
		if l.CacheTTL > 0 {
			w.CacheTTL = l.TTL()
		}
		file.Lists = append(file.Lists, w)
	}
	// The shipped file explains its own fields; so the explanation cannot differ from what ships.
	comments, _, _ := bytes.Cut(shipped, []byte("\nlists:"))
	var b bytes.Buffer
	b.Write(comments)
	b.WriteByte('\n')
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(file); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}

// TTL is CacheTTL as text: "5m", "1h"; "-" without a cache, "forever" for 0 with one.
func (l *List) TTL() string {
	switch {
	case l.CacheRead == 0:
		return "-"
	case l.CacheTTL == 0:
		return "forever"
	}
	// Zeros are cut only behind another unit: "30s" stays, "10m0s" becomes "10m".
	s := l.CacheTTL.String() // "5m0s", "1h0m0s"
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
