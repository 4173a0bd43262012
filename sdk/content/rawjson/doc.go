// Package rawjson walks over JSON text without building values from it: objects field by field in their order, arrays
// element by element, every value as its bytes.
//
// It is for package content and for the host's importers, which carry tool parameters and results as raw JSON and need
// to know at which byte a broken file breaks. Start at [Scanner]; [Field] looks up one field of an object.
//
// The grammar is checked to the letter (RFC 8259), each byte is looked at once, and memory does not grow with the
// input. Like encoding/json it accepts bytes that are not UTF-8 and refuses values nested deeper than [MaxDepth].
package rawjson
