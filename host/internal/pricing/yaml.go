package pricing

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// written is a list as in a file: unset fields are left out, durations are text. Its keys are those that parse reads.
type written struct {
	Name         string   `yaml:"name"`
	Models       []string `yaml:"models,omitempty,flow"`
	Input        float64  `yaml:"input"`
	CacheRead    float64  `yaml:"cacheRead,omitempty"`
	CacheWrite   float64  `yaml:"cacheWrite,omitempty"`
	WriteHour    float64  `yaml:"cacheWriteHour,omitempty"`
	Output       float64  `yaml:"output"`
	Over         []Over   `yaml:"over,omitempty"`
	From         []From   `yaml:"from,omitempty"`
	Fast         float64  `yaml:"fast,omitempty"`
	CacheTTL     string   `yaml:"cacheTTL,omitempty"`
	CacheMinimum int      `yaml:"cacheMinimum,omitempty"`
	AsOf         string   `yaml:"asOf"`
	Source       string   `yaml:"source"`
	Note         string   `yaml:"note,omitempty"`
}

// YAML returns all lists as a file that [Load] reads, with comments that explain each field: the output of 'thresh
// config prices -o yaml' is a template.
func (c *Catalog) YAML() ([]byte, error) {
	var file struct {
		Lists []written `yaml:"lists"`
	}
	implied := map[*List]bool{}
	for _, l := range c.lists {
		if l.CacheWriteHour > 0 && l.Hour != nil && l.Hour.CacheWrite == l.CacheWriteHour {
			implied[l.Hour] = true
		}
	}
	for _, l := range c.lists {
		if !implied[l] {
			file.Lists = append(file.Lists, l.written())
		}
	}
	// The shipped file's own explanation cannot differ from what ships.
	comments, _, _ := bytes.Cut(own, []byte("\nlists:"))
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

func (l *List) written() written {
	w := written{
		Name: l.Name, Models: l.Models, AsOf: l.AsOf, Source: l.Source, Note: l.Note, Input: l.Input,
		CacheRead: l.CacheRead, CacheWrite: l.CacheWrite, WriteHour: l.CacheWriteHour, Output: l.Output,
		Over: l.Over, From: l.From, Fast: l.Fast, CacheMinimum: l.CacheMinimum,
	}
	if len(l.From) > 0 && l.From[0].Day == "" { // of a catalog: today's are those of a day
		f := l.From[0]
		w.Input, w.CacheRead, w.CacheWrite, w.WriteHour, w.Output = f.Input, f.CacheRead, f.CacheWrite, f.CacheWriteHour, f.Output
		w.Over, w.From = f.Over, l.From[1:]
	}
	if l.CacheTTL > 0 {
		w.CacheTTL = l.TTL()
	}
	return w
}

// TTL is CacheTTL as text: "5m", "1h"; "-" without a cache, "forever" for 0 with one.
func (l *List) TTL() string {
	switch {
	case l.CacheRead == 0:
		return "-"
	case l.CacheTTL == 0:
		return "forever"
	}
	// Zeros are cut only after another unit: "30s" is kept, "10m0s" becomes "10m".
	s := l.CacheTTL.String() // "5m0s", "1h0m0s"
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
