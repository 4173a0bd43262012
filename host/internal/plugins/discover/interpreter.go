package discover

import (
	"bytes"
	"debug/elf"
	"io"
	"strings"
)

// Interpreter returns the path of the program that runs the file: a script's #! line, or a dynamically linked program's
// loader; "" for a static program. Isolation must make it readable.
func (b *Binary) Interpreter() string {
	if b.Script {
		return firstWord(shebang(b.file))
	}
	return loader(b.file)
}

// shebang returns what follows #! in a script's first line, of which Linux reads 256 bytes.
func shebang(script io.ReaderAt) string {
	const most = 256
	head := make([]byte, most)
	n, _ := script.ReadAt(head, 0)
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	return strings.TrimSpace(strings.TrimPrefix(string(line), "#!"))
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(strings.ReplaceAll(s, "\t", " "), " ")
	return word
}

// loader returns a dynamically linked ELF program's loader; "" if there is none.
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

// withoutSections hides the section table of an ELF file: debug/elf reads compressed section names as a whole, so a
// file of a few kilobytes could take any amount of memory.
type withoutSections struct{ file io.ReaderAt }

// ReadAt reads zeros for the table's offset and length in the header.
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
