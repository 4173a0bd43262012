// Command convert writes the price lists and windows that ship, from a clone of genai-prices: see 'make prices'.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/pricing"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: convert CLONE COMMIT DIR")
		os.Exit(2)
	}
	if err := convert(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "convert:", err)
		os.Exit(1)
	}
}

func convert(clone, commit, dir string) error {
	git := func(args ...string) ([]byte, error) {
		cmd := exec.Command("git", append([]string{"-C", clone}, args...)...)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
		}
		return out, nil
	}
	var c pricing.Catalogue
	head, err := git("log", "-1", "--format=%H %cs", commit)
	if err != nil {
		return err
	}
	c.Commit, c.Day, _ = strings.Cut(strings.TrimSpace(string(head)), " ")
	if c.Data, err = git("show", commit+":prices/new_data/v2/data.json"); err != nil {
		return err
	}
	if c.License, err = git("show", commit+":LICENSE"); err != nil {
		return err
	}
	if c.Adds, err = os.ReadFile(filepath.Join(dir, "convert", "adds.yaml")); err != nil {
		return err
	}
	prices, windows, err := c.Convert()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "base.yaml"), prices, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "windows-base.yaml"), windows, 0o644)
}
