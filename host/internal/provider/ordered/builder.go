package ordered

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Builder builds a JSON object in the order in which its fields are set, each once. JSON adds the closing brace.
type Builder []byte

// Raw sets a field to valid JSON. null and nil set nothing.
func (b *Builder) Raw(name string, value []byte) {
	if rawjson.IsNull(value) {
		return
	}
	sep := byte(',')
	if len(*b) == 0 {
		sep = '{'
	}
	*b = append(*b, sep)
	*b = append(*b, content.String(name)...)
	*b = append(*b, ':')
	*b = append(*b, value...)
}

// Text sets a field to a string. "" sets nothing.
func (b *Builder) Text(name, value string) {
	if value != "" {
		b.Raw(name, content.String(value))
	}
}

// Flag sets a field to true. False sets nothing.
func (b *Builder) Flag(name string, set bool) {
	if set {
		b.Raw(name, []byte("true"))
	}
}

// Rest sets all fields of an object, none of which may be set already.
func (b *Builder) Rest(o Object) {
	for _, f := range o {
		b.Raw(f.Name, f.Value)
	}
}

// JSON returns the object; nil if nothing was set, which means an entry without metadata. Capped: the builder can
// continue without changing the returned object.
func (b Builder) JSON() json.RawMessage {
	if len(b) == 0 {
		return nil
	}
	return json.RawMessage(append(b[:len(b):len(b)], '}'))
}

// List returns values as a JSON list.
func List(values ...[]byte) []byte {
	return bytes.Join([][]byte{{'['}, bytes.Join(values, []byte{','}), {']'}}, nil)
}

// Same reports whether two JSON values are equal: the order of fields does not count, and null is the same as absent.
// Numbers are compared as they are written. It is asked for each part of each message that an agent adds, so the usual
// case, equal bytes, is decided first.
func Same(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, okX := decoded(a)
	y, okY := decoded(b)
	return okX && okY && reflect.DeepEqual(x, y)
}

func decoded(raw []byte) (v any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err := d.Decode(&v)
	return withoutNull(v), err == nil
}

// withoutNull removes the fields that are null, at any depth.
func withoutNull(v any) any {
	switch v := v.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, field any) bool { return withoutNull(field) == nil })
	case []any:
		for _, element := range v {
			withoutNull(element)
		}
	}
	return v
}
