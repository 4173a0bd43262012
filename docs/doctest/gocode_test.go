package doctest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestGoIsAPackage holds each Go block of a page to a file of the repository, which is built, vetted and tested with
// all others, and each block in another language that says which file it shows.
func TestGoIsAPackage(t *testing.T) {
	shown := 0
	for _, page := range all(t) {
		for _, b := range slices.Backward(page.Blocks) { // from the end: an update moves the lines behind a block
			if b.Language != "go" && b.Source == "" {
				continue
			}
			shown++
			if b.Source == "" {
				t.Errorf("%s:%d: make it a package below examples/, and write <!-- is: FILE --> before the block",
					page.Path, b.From+1)
				continue
			}
			source, err := os.ReadFile(filepath.Join(root, b.Source))
			if err != nil {
				t.Errorf("%s:%d: %v", page.Path, b.From+1, err)
				continue
			}
			code := string(source)
			if b.Language == "go" {
				_, code, _ = strings.Cut("\n"+code, "\npackage ")
				code = "package " + code
			}
			if code == b.Text {
				continue
			}
			if !*update {
				t.Errorf("%s:%d: not what %s has ('make docs' writes it into the page)", page.Path, b.From+1, b.Source)
				continue
			}
			page.Lines = slices.Replace(page.Lines, b.From, b.To, strings.Split(strings.TrimSuffix(code, "\n"), "\n")...)
			if err := os.WriteFile(page.Path, []byte(strings.Join(page.Lines, "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if shown == 0 {
		t.Error("no page shows Go")
	}
}
