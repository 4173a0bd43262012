package winetest

import (
	"bytes"
	"encoding/binary"
)

// prng is a library without code: bcryptprimitives.dll, which programs of Go need and older Wines lack. Its only export,
// ProcessPrng, leads to SystemFunction036 of advapi32.dll, which takes the same arguments.
func prng() []byte {
	const (
		base, page, align = 0x6e0000000, 0x1000, 0x200
		directory         = 40 // bytes of an export directory
	)
	strings := []byte("bcryptprimitives.dll\x00ProcessPrng\x00advapi32.SystemFunction036\x00")
	at := func(text string) uint32 { // where a string is once the file is loaded
		return page + directory + 10 + uint32(bytes.Index(strings, []byte(text)))
	}
	var section bytes.Buffer
	put := func(b *bytes.Buffer, values ...any) {
		for _, v := range values {
			_ = binary.Write(b, binary.LittleEndian, v)
		}
	}
	put(&section, uint32(0), uint32(0), uint32(0), at("bcrypt"), uint32(1), uint32(1), uint32(1),
		uint32(page+directory), uint32(page+directory+4), uint32(page+directory+8)) // functions, names, ordinals
	put(&section, at("advapi32"), at("ProcessPrng"), uint16(0), strings)
	size := uint32(section.Len())
	section.Write(make([]byte, align-section.Len()))

	var file bytes.Buffer
	put(&file, []byte("MZ"), make([]byte, 58), uint32(64)) // the header of DOS: where the real one is
	put(&file, []byte("PE\x00\x00"), uint16(0x8664), uint16(1), make([]byte, 12), uint16(240), uint16(0x2022))
	put(&file, uint16(0x20b), make([]byte, 2), uint32(0), uint32(align), make([]byte, 8), uint32(page), uint64(base),
		uint32(page), uint32(align), uint16(6), uint16(0), uint16(0), uint16(0), uint16(6), uint16(0), uint32(0),
		uint32(2*page), uint32(align), uint32(0), uint16(3), uint16(0x100),
		uint64(1<<20), uint64(1<<12), uint64(1<<20), uint64(1<<12), uint32(0), uint32(16))
	put(&file, uint32(page), size, make([]byte, 15*8)) // the first of 16 directories: exports
	put(&file, []byte(".rdata\x00\x00"), size, uint32(page), uint32(align), uint32(align), make([]byte, 12),
		uint32(0x40000040))
	file.Write(make([]byte, align-file.Len()))
	file.Write(section.Bytes())
	return file.Bytes()
}
