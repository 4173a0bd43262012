package discover

import (
	"bytes"
	"debug/elf"
	"io"
	"strings"
)

// Interpreter returns the path of the program that runs the file: for a script, the one in its #! line; for a
// dynamically linked program, its loader. It returns "" for a static program. Isolation must make it readable.
func (b *Binary) Interpreter() string {
	if b.Script {
		return firstWord(shebang(b.file))
	}
	return loader(b.file)
}

// shebang returns what follows #! in a script's first line. Linux reads 256 bytes of it.
func shebang(script io.ReaderAt) string {
	const most = 256
	head := make([]byte, most)
	n, _ := script.ReadAt(head, 0) // as much as there is
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	return strings.TrimSpace(strings.TrimPrefix(string(line), "#!"))
}

// firstWord returns s up to the first space or tab.
func firstWord(s string) string {
	word, _, _ := strings.Cut(strings.ReplaceAll(s, "\t", " "), " ")
	return word
}

// loader returns the path of the loader in a dynamically linked ELF program; "" if it has none, or is not ELF.
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

// withoutSections hides the section table of an ELF file. Nothing here needs it, and the section names may be
// compressed: as debug/elf reads them as a whole, a file of a few kilobytes could take any amount of memory.
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
