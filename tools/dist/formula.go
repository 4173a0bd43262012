package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"text/template"
)

// formula writes thresh.rb for Homebrew from packaging/thresh.rb.tmpl. It names the archives and their checksums, so
// they must be there.
func (r release) formula(platforms []platform) error {
	type download struct{ URL, Sum string }
	systems := map[string]map[string]download{}
	for _, p := range platforms {
		if p.system == "windows" {
			continue
		}
		file := r.archived(p)
		data, err := os.ReadFile(filepath.Join(r.out, file))
		if err != nil {
			return err
		}
		// Homebrew's words.
		system := map[string]string{"linux": "linux", "darwin": "macos"}[p.system]
		arch := map[string]string{"amd64": "intel", "arm64": "arm"}[p.arch]
		if system == "" || arch == "" {
			return fmt.Errorf("Homebrew is not on %s on %s", p.system, p.arch)
		}
		if systems[system] == nil {
			systems[system] = map[string]download{}
		}
		systems[system][arch] = download{
			URL: fmt.Sprintf("%s/releases/download/%s/%s", homepage, r.version, file),
			Sum: fmt.Sprintf("%x", sha256.Sum256(data)),
		}
	}
	text, err := template.ParseFiles("packaging/thresh.rb.tmpl")
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(r.out, "thresh.rb"))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := text.Execute(f, map[string]any{"Version": r.number(), "Homepage": homepage, "Systems": systems}); err != nil {
		return err
	}
	return f.Close()
}
