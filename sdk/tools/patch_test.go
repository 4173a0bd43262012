package tools

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPatchWrites(t *testing.T) {
	tests := map[string]struct {
		patch string
		want  []Write
	}{
		"several files": {
			"*** Begin Patch\n*** Add File: new.go\n+x\n*** Update File: a b.go\n@@ f\n-x\n+y\n*** Delete File: " +
				"old.go\n*** End Patch\n",
			[]Write{{Path: "new.go", Whole: true}, {Path: "a b.go"}, {Path: "old.go", Whole: true, Deletes: true}},
		},
		"move": {
			"*** Begin Patch\n*** Update File: a.go\n*** Move to: b/a.go\n@@\n+y\n*** End Patch",
			[]Write{{Path: "a.go", Deletes: true}, {Path: "b/a.go"}},
		},
		"CRLF": {"*** Begin Patch\r\n*** Update File: a.go\r\n*** End Patch\r\n",
			[]Write{{Path: "a.go"}}},
		"headers in the body": {"*** Begin Patch\n*** Update File: a.go\n+*** Delete File: b.go\n *** Delete " +
			"File: c.go\n*** End Patch", []Write{{Path: "a.go"}}},
		"end of file mark": {"*** Begin Patch\n*** Update File: a.go\n@@\n+x\n*** End of File\n*** Update " +
			"File: b.go\n*** End Patch", []Write{{Path: "a.go"}, {Path: "b.go"}}},
		"before the beginning":      {"*** Delete File: a.go\n*** Begin Patch\n*** End Patch", nil},
		"after the end":             {"*** Begin Patch\n*** End Patch\n*** Delete File: a.go", nil},
		"no name":                   {"*** Begin Patch\n*** Update File:  \n*** End Patch", nil},
		"move of nothing":           {"*** Begin Patch\n*** Move to: a.go\n*** End Patch", []Write{{Path: "a.go"}}},
		"no patch":                  {"--- a/a.go\n+++ b/a.go\n", nil},
		"cut off is what was there": {"*** Begin Patch\n*** Update File: a.go\n@@", []Write{{Path: "a.go"}}},
		"a patch may hold an old mark": {"*** Begin Patch\n*** Begin Patch\n*** Update File: a.go\n*** End Patch",
			[]Write{{Path: "a.go"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, patchWrites(tt.patch)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestShellPatch(t *testing.T) {
	const patch = "*** Begin Patch\n*** Update File: a.go\n*** End Patch"
	tests := map[string]struct {
		command string
		want    bool
	}{
		"here-document":            {"apply_patch <<'EOF'\n" + patch + "\nEOF\n", true},
		"plain here-document":      {"apply_patch <<EOF\n" + patch + "\nEOF", true},
		"tabs":                     {" apply_patch <<-\"EOF\"\n" + patch + "\nEOF", true},
		"quoted argument":          {"apply_patch '" + patch + "'", true},
		"argument":                 {"apply_patch " + patch, true},
		"another command first":    {"cd x && apply_patch <<'EOF'\n" + patch + "\nEOF", false},
		"another command after it": {"apply_patch <<'EOF' && rm a.go\n" + patch + "\nEOF", false},
		"a pipe":                   {"cat <<'EOF' | apply_patch\n" + patch + "\nEOF", false},
		"another name":             {"apply_patches <<'EOF'\n" + patch + "\nEOF", false},
		"glued":                    {"apply_patch" + patch, false},
		"an option":                {"apply_patch --check <<'EOF'\n" + patch + "\nEOF", false},
		"a file":                   {"apply_patch < x.patch", false},
		"written about":            {"echo \"apply_patch " + patch + "\"", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := len(patchWrites(shellPatch(tt.command))) > 0; got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func FuzzPatchWrites(f *testing.F) {
	f.Add("*** Begin Patch\n*** Update File: a.go\n*** Move to: b.go\n*** Add File: c\n+*** Delete File: d\n*** End " +
		"Patch\n")
	f.Add("apply_patch <<'EOF'\n*** Begin Patch\r\n*** Delete File: a\r\n*** End Patch\r\nEOF")
	f.Fuzz(func(t *testing.T, s string) {
		for _, w := range append(patchWrites(s), patchWrites(shellPatch(s))...) {
			if w.Path == "" || strings.TrimSpace(w.Path) != w.Path || strings.Contains(w.Path, "\n") ||
				!strings.Contains(s, w.Path) {
				t.Errorf("a path %q from %q", w.Path, s)
			}
		}
	})
}

func TestPattern(t *testing.T) {
	tests := map[string]struct {
		glob, name string
		fold, want bool
	}{
		"star":                {"mcp__*__read_*", "mcp__fs__read_file", false, true},
		"star is empty":       {"mcp__*__read_*", "mcp____read_", false, true},
		"star goes back":      {"a*b*c", "abxbxc", false, true},
		"wrong end":           {"a*b", "abx", false, false},
		"question mark":       {"read?", "read1", false, true},
		"question mark, none": {"read?", "read", false, false},
		"case":                {"read*", "Read_file", false, false},
		"no case":             {"READ*", "Read_file", true, true},
		"many stars":          {strings.Repeat("*a", 20), strings.Repeat("a", 10000) + "b", false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, ok := newPattern(tt.glob, tt.fold)
			if !ok {
				t.Fatal("taken for a plain name")
			}
			if got := p.match(tt.name); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
