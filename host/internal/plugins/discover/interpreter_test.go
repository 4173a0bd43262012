package discover

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	encoding "encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestWhatAProgramIsRunBy(t *testing.T) {
	for text, want := range map[string]string{
		"#!/usr/bin/env -S node --x\ncode": "/usr/bin/env", "#! /bin/sh": "/bin/sh", "#!/bin/sh\t-e\n": "/bin/sh",
		"#!":                              "",
		"#!/" + strings.Repeat("x", 1000): "/" + strings.Repeat("x", 253),
	} {
		if got := firstWord(shebang(strings.NewReader(text))); got != want {
			t.Errorf("%.30q: %q", text, got)
		}
	}
	if got := loader(strings.NewReader("\x7fELF but not really")); got != "" {
		t.Errorf("of no program: %q", got)
	}
	if runtime.GOOS != "linux" {
		return
	}
	f, err := os.Open("/bin/sh")
	if err != nil {
		t.Skip("SKIPPED:", err)
	}
	defer f.Close()
	if got := loader(f); got != "" && !filepath.IsAbs(got) { // "": it is linked statically
		t.Errorf("of a program: %q", got)
	}
}

// The names of an ELF file's sections may be compressed, to a thousandth of what they are.
func TestASmallProgramTakesLittleMemory(t *testing.T) {
	const claimed, most = 64 << 20, 8 << 20
	program := bomb(t, "/opt/ld.so", claimed)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := loader(bytes.NewReader(program))
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > most || got != "/opt/ld.so" {
		t.Errorf("%d bytes make the host take %d; the loader is %q", len(program), took, got)
	}
}

// bomb is a program with a loader, and with so many bytes of names of sections.
func bomb(t *testing.T, loader string, size int64) []byte {
	t.Helper()
	var names bytes.Buffer
	w := zlib.NewWriter(&names)
	_, err := io.CopyN(w, zeros{}, size)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	const header, part, section, compressed = 64, 56, 64, 24 // bytes of each
	const loaderAt = header + part
	namesAt := loaderAt + uint64(len(loader))
	namesLen := compressed + uint64(names.Len())
	var file bytes.Buffer
	for _, v := range []any{
		elf.Header64{
			Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB),
				byte(elf.EV_CURRENT)},
			Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT),
			Phoff: header, Phentsize: part, Phnum: 1,
			Shoff: namesAt + namesLen, Shentsize: section, Shnum: 2, Shstrndx: 1,
		},
		elf.Prog64{Type: uint32(elf.PT_INTERP), Off: loaderAt, Filesz: uint64(len(loader))},
		[]byte(loader),
		elf.Chdr64{Type: uint32(elf.COMPRESS_ZLIB), Size: uint64(size), Addralign: 1},
		names.Bytes(),
		elf.Section64{},
		elf.Section64{Type: uint32(elf.SHT_STRTAB), Flags: uint64(elf.SHF_COMPRESSED), Off: namesAt, Size: namesLen},
	} {
		if err := encoding.Write(&file, encoding.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	return file.Bytes()
}

// zeros is zeros without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
