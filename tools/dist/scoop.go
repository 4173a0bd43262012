package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// scoopArch is what Scoop calls an architecture of Go.
var scoopArch = map[string]string{"amd64": "64bit", "arm64": "arm64"}

// scoop writes thresh.json, a manifest for Scoop. It names the zip files and their checksums, so they must be there.
// Without one there is no manifest.
func (r release) scoop(platforms []platform) error {
	type download struct {
		URL  string `json:"url"`
		Hash string `json:"hash"`
		Dir  string `json:"extract_dir"`
	}
	archs := map[string]download{}
	for _, p := range platforms {
		if p.system != "windows" {
			continue
		}
		file := r.archived(p)
		data, err := os.ReadFile(filepath.Join(r.out, file))
		if err != nil {
			return err
		}
		if scoopArch[p.arch] == "" {
			return fmt.Errorf("Scoop is not on %s", p.arch)
		}
		archs[scoopArch[p.arch]] = download{
			URL:  fmt.Sprintf("%s/releases/download/%s/%s", homepage, r.version, file),
			Hash: fmt.Sprintf("%x", sha256.Sum256(data)), Dir: r.archiveName(p),
		}
	}
	if len(archs) == 0 {
		return nil
	}
	text, err := json.MarshalIndent(map[string]any{
		"version": r.number(), "description": "Keeps an LLM agent's conversation under its model's context limit.",
		"homepage": homepage, "license": "Apache-2.0", "architecture": archs, "bin": "thresh.exe",
	}, "", "    ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, "thresh.json"), append(text, '\n'), 0o644)
}
