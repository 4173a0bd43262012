// Package ordered reads and writes JSON objects with their fields in order, as raw JSON: what is carried is written back
// in the same order and with the same digits, where a map and float64 would change both.
package ordered

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Object is a JSON object. If a name occurs twice, the last value counts, at the place of the first. The values are
// slices of the parsed text: copy what you keep. Nil is "not an object", and all its lookups find nothing.
type Object []Field

// Field is one name and value of an object. The zero field means "absent".
type Field struct {
	Name  string
	Value []byte
	// At is where the value begins in the parsed text, in bytes; for line numbers.
	At int
}

// Parse reads an object that is followed by white space only. Up to 16 fields are searched linearly, which is faster
// than a map for the usual record; beyond that an index keeps hostile files from taking quadratic time.
func Parse(raw []byte) (Object, error) {
	var o Object
	// Only for a long object: looking through a list of a million names for each name takes hours.
	var index map[string]int
	s := rawjson.New(raw)
	err := s.Object(func(name []byte) error {
		f := Field{Name: string(name), At: s.Offset()}
		var err error
		f.Value, err = s.Skip()
		before := -1
		if index == nil {
			before = slices.IndexFunc(o, func(g Field) bool { return g.Name == f.Name })
		} else if i, ok := index[f.Name]; ok {
			before = i
		}
		if before >= 0 {
			o[before] = f
			return err
		}
		o = append(o, f)
		switch {
		case index != nil:
			index[f.Name] = len(o) - 1
		case len(o) == 16:
			index = map[string]int{}
			for i, g := range o {
				index[g.Name] = i
			}
		}
		return err
	})
	if err == nil {
		err = s.Rest()
	}
	return o, err
}

// Of returns the fields of raw; nil if it is not an object. Lookups in a nil object find nothing, so reading nested
// objects needs no checks in between.
func Of(raw []byte) Object {
	// Parsing a long string to learn that it is no object would be a waste.
	if Kind(raw) != '{' {
		return nil
	}
	o, err := Parse(raw)
	// Documents were checked before; for parts of a record that are no valid JSON, "not an object" is enough.
	if err != nil {
		return nil
	}
	return o
}

// Elements returns the elements of a list; ok is false if raw is none.
func Elements(raw []byte) (list [][]byte, ok bool) {
	s := rawjson.New(raw)
	err := s.Array(func(int) error {
		value, err := s.Skip()
		list = append(list, value)
		return err
	})
	return list, err == nil
}

// Field returns the field of that name, or the zero field. The search is linear; use it for the few fields that a
// format defines.
func (o Object) Field(name string) Field {
	for i := range o {
		if o[i].Name == name {
			return o[i]
		}
	}
	return Field{}
}

// Raw returns the value of a field; nil if there is none.
func (o Object) Raw(name string) []byte { return o.Field(name).Value }

// Has reports whether there is a field of that name that is not null. Some recorders write null for what is missing.
func (o Object) Has(name string) bool { return !rawjson.IsNull(o.Raw(name)) }

// Text returns a field that is text; "" for any other.
func (o Object) Text(name string) string { return Text(o.Raw(name)) }

// Object returns a field that is an object; nil for any other.
func (o Object) Object(name string) Object { return Of(o.Raw(name)) }

// True reports whether a field is true.
func (o Object) True(name string) bool { return string(o.Raw(name)) == "true" }

// Copy returns a copy of a field that is not null; nil for any other.
func (o Object) Copy(name string) json.RawMessage {
	if raw := o.Raw(name); !rawjson.IsNull(raw) {
		return bytes.Clone(raw)
	}
	return nil
}

// Size returns about how many bytes the object was read from.
func (o Object) Size() (n int) {
	for _, f := range o {
		n += len(f.Name) + len(f.Value) + 4
	}
	return n
}

// But returns the other fields that are not null.
func (o Object) But(names ...string) Object {
	var out Object
	for _, f := range o {
		if !slices.Contains(names, f.Name) && !rawjson.IsNull(f.Value) {
			out = append(out, f)
		}
	}
	return out
}

// Extra returns copies of the other fields that are not null, for a block or an entry.
func (o Object) Extra(names ...string) content.Fields {
	var out []content.Field
	for _, f := range o.But(names...) {
		out = append(out, content.Field{Name: f.Name, Value: bytes.Clone(f.Value)})
	}
	return content.FieldsOf(out...)
}

// JSON returns the object; nil if it has no fields.
func (o Object) JSON() json.RawMessage {
	var b Builder
	b.Rest(o)
	return b.JSON()
}

// OrEmpty is JSON with {} for no fields.
func (o Object) OrEmpty() json.RawMessage { return First(o.JSON(), []byte("{}")) }

// Text returns raw if it is text; "" for any other value.
func Text(raw []byte) string {
	s, _ := rawjson.Text(raw)
	return s
}

// Kind returns the first byte of a value, which tells its JSON type; 0 if there is none.
func Kind(raw []byte) byte { return rawjson.New(raw).Kind() }

// First returns the first value that is not null.
func First(values ...[]byte) []byte {
	for _, v := range values {
		if !rawjson.IsNull(v) {
			return v
		}
	}
	return nil
}

// FirstObject returns the first object in a list; nil if there is none, or raw is not a list.
func FirstObject(raw []byte) Object { return FindObject(raw, func(Object) bool { return true }) }

// FindObject returns the first object in a list that fits; nil if none does, or raw is not a list. It stops there:
// format detection needs few elements of lists that may have a hundred thousand.
func FindObject(raw []byte, fits func(Object) bool) Object {
	var found Object
	errFound := errors.New("found")
	s := rawjson.New(raw)
	_ = s.Array(func(int) error { // errFound stops it early; otherwise raw is no list
		value, err := s.Skip()
		if o := Of(value); err == nil && o != nil && fits(o) {
			found, err = o, errFound
		}
		return err
	})
	return found
}

// Whole reads a whole number: digits only, without sign, fraction and exponent, and few enough for an int of 32 bits.
func Whole(raw []byte) (n int, ok bool) {
	u, err := strconv.ParseUint(string(raw), 10, 30)
	return int(u), err == nil
}

// Clip returns the first 40 bytes of foreign text for a message. Names of fields, roles and types come from outside and
// may be huge or cut within a character.
func Clip(foreign []byte) string {
	const most = 40
	return text.Clip(string(foreign[:min(len(foreign), most+1)]), most) // copies only what is shown
}
