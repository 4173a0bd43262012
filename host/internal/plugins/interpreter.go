package plugins

import (
	"bytes"
	"debug/elf"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
)

// endedHint is what to do about a process that ended before it said anything.
func (c *child) endedHint() string {
	const byHand = "run it by hand to see what it is"
	switch {
	case c.binary.script && filepath.Base(firstWord(shebang(c.binary.file))) == "env":
		return "its #! line has env look for a program in PATH, which plugins do not get: name the program by its absolute path"
	case c.isolated():
		return byHand + "; if it works there, isolation keeps something from it: see plugins.grants." + c.binary.name + " and 'thresh doctor'"
	}
	return byHand
}

// isolated reports whether files are kept from the process.
func (c *child) isolated() bool { return slices.Contains(c.cage.apply, isolate.Files) }

// hiddenInterpreter returns the program that runs the plugin's file, an interpreter or a loader, if isolation keeps it from
// the plugin; and what would have to be granted. It returns "" where that is not the trouble.
func (c *child) hiddenInterpreter() (path, grant string) {
	if !c.isolated() {
		return "", ""
	}
	named := loader(c.binary.file)
	if c.binary.script {
		named = firstWord(shebang(c.binary.file))
	}
	if !filepath.IsAbs(named) {
		return "", ""
	}
	real, err := filepath.EvalSymlinks(named)
	if err != nil || isolate.Readable(real) || c.granted(real) {
		return "", ""
	}
	return named, surroundings(real)
}

// granted reports whether the plugin may read a file because it was granted to it.
func (c *child) granted(path string) bool {
	return slices.ContainsFunc(c.cage.grant.Read, func(tree string) bool {
		real, err := filepath.EvalSymlinks(tree)
		if err != nil {
			return false
		}
		rel, err := filepath.Rel(real, path)
		return err == nil && filepath.IsLocal(rel)
	})
}

// surroundings returns what a program most likely needs beside itself: where it is in a folder bin, what that lies in. That is
// not suggested where it would open a home directory, or everything.
func surroundings(program string) string {
	dir := filepath.Dir(program)
	home, _ := os.UserHomeDir() // "": nothing is below it
	if prefix := filepath.Dir(dir); filepath.Base(dir) == "bin" && prefix != home && filepath.Dir(prefix) != "/" && prefix != "/" {
		return prefix
	}
	return program
}

// shebang returns what stands behind #! in a script's first line, as far as a kernel reads it.
func shebang(script io.ReaderAt) string {
	const most = 256
	head := make([]byte, most)
	n, _ := script.ReadAt(head, 0) // whatever there is
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	return strings.TrimSpace(strings.TrimPrefix(string(line), "#!"))
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(strings.ReplaceAll(s, "\t", " "), " ")
	return word
}

// loader returns the path of the loader that a dynamically linked ELF program asks for, "" if it asks for none.
func loader(program io.ReaderAt) string {
	f, err := elf.NewFile(withoutSections{program})
	if err != nil {
		return ""
	}
	for _, part := range f.Progs {
		if part.Type == elf.PT_INTERP {
			path, _ := io.ReadAll(io.LimitReader(part.Open(), 4096)) // a path is shorter
			return strings.TrimRight(string(path), "\x00")
		}
	}
	return ""
}

// withoutSections hides the table of sections of an ELF file. Nothing here needs it, and their names, which are read as a whole,
// may be compressed: a file of some kilobytes could take any amount of memory.
type withoutSections struct{ file io.ReaderAt }

// ReadAt reads zeros where the header says where that table is and how long.
func (w withoutSections) ReadAt(p []byte, off int64) (int, error) {
	n, err := w.file.ReadAt(p, off)
	var ident [elf.EI_NIDENT]byte
	if _, bad := w.file.ReadAt(ident[:], 0); bad != nil {
		return n, err
	}
	hidden := [][2]int64{{0x28, 0x30}, {0x3c, 0x40}} // e_shoff; e_shnum and e_shstrndx
	if elf.Class(ident[elf.EI_CLASS]) == elf.ELFCLASS32 {
		hidden = [][2]int64{{0x20, 0x24}, {0x30, 0x34}}
	}
	for _, field := range hidden {
		if from, to := max(field[0]-off, 0), min(field[1]-off, int64(n)); from < to {
			clear(p[from:to])
		}
	}
	return n, err
}
