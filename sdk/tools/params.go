package tools

import (
	"iter"

	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// params are those members of a call's parameters that some rule asks for, as slices of the raw JSON: the rest, such as
// the content of a written file, is skipped and never copied. For a handful of names, searching a slice is faster than
// hashing.
type params []member

type member struct {
	name  string
	value []byte
}

func (p params) get(name string) []byte {
	for _, m := range p {
		if m.name == name {
			if rawjson.IsNull(m.value) {
				return nil
			}
			return m.value
		}
	}
	return nil
}

// set stores a member; if a name occurs twice the last value counts, as in encoding/json.
func (p params) set(name string, value []byte) params {
	for i := range p {
		if p[i].name == name {
			p[i].value = value
			return p
		}
	}
	return append(p, member{name, value})
}

// itself is the name of the parameters themselves if they are a string.
const itself = "$"

// scan appends to dst the members of data whose names are keys of want. Data that is not an object or string, or not
// JSON, has no members.
func scan(dst params, data []byte, want map[string]string) params {
	s := rawjson.New(data)
	if s.Kind() == '"' {
		if v, err := s.Skip(); err == nil && s.Rest() == nil {
			dst = dst.set(itself, v)
		}
		return dst
	}
	err := s.Object(func(key []byte) error {
		name, ok := want[string(key)] // makes no string
		v, err := s.Skip()
		if ok && err == nil {
			dst = dst.set(name, v)
		}
		return err
	})
	// Half of an object is worse than none: the member that decides may be missing.
	if err != nil || s.Rest() != nil {
		return nil
	}
	return dst
}

// elements yields the elements of a JSON array, nothing if data is none. data must be JSON.
func elements(data []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		s := rawjson.New(data)
		_ = s.Array(func(int) error { // the only error is that there is no array, or errStop
			v, err := s.Skip()
			if err == nil && !yield(v) {
				return errStop
			}
			return err
		})
	}
}
