package service

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Read reads the parameters of a method, an object, which is all that there may be, and returns a pointer to them. It
// takes what the contract says to the letter: a member that is unknown, differs in case or is there twice is most likely
// a mistake, and to ignore it would do something else than the agent meant. What is in entries and messages, their own
// readers decide.
func Read(m *api.Method, from io.Reader) (params any, err error) {
	r := reflect.New(m.Params)
	if err := decode(from, r.Elem(), true); err != nil {
		return nil, err
	}
	id := SessionOf(r.Interface())
	if id == "" && (m.About == api.ASession || m.About == api.Ending) {
		return nil, api.Refuse("session", `"session" is missing: it is what session.open returned`)
	}
	if err := (store.Key{ID: id}).Check(); err != nil {
		e := host.ErrorOf(err)
		if e.Field = "session"; m.About == api.Opening {
			e.Field = "id"
		}
		return nil, e
	}
	return r.Interface(), nil
}

// ReadLoosely reads an object into a struct. Members that the struct does not have are ignored, for callers that others
// wrote.
func ReadLoosely(from io.Reader, into any) error {
	return decode(from, reflect.ValueOf(into).Elem(), false)
}

func decode(from io.Reader, into reflect.Value, strict bool) error {
	text, err := io.ReadAll(from)
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return api.Refuse("", "the request is empty; one without parameters is {}")
	}
	d := decoder{rawjson.New(text), strict}
	if d.Kind() == '{' {
		err = d.object(into, "")
	} else if _, err = d.Skip(); err == nil {
		return api.Refuse("", "must be an object, with parameters by name")
	}
	if err == nil && d.Rest() != nil {
		return api.Refuse("", "something follows the object")
	}
	if refused, ok := errors.AsType[*api.Error](err); ok {
		return refused
	}
	switch syntax, broken := errors.AsType[*rawjson.SyntaxError](err); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return api.Refuse("", "the request ends in the middle of its JSON")
	case broken:
		return api.Refuse("", "not JSON at byte %d: %s", syntax.Offset+1, syntax.Message)
	}
	return err
}

// decoder reads values of the contract.
type decoder struct {
	*rawjson.Scanner
	strict bool
}

// members are the fields of structs by their names in JSON.
var members sync.Map // reflect.Type → map[string][]int

func membersOf(t reflect.Type) map[string][]int {
	if known, ok := members.Load(t); ok {
		return known.(map[string][]int)
	}
	all := map[string][]int{}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			all[name] = f.Index
		}
	}
	members.Store(t, all)
	return all
}

func (d decoder) object(into reflect.Value, path string) error {
	fields, seen := membersOf(into.Type()), map[string]bool{}
	return d.Object(func(raw []byte) error {
		name := string(raw)
		at := strings.TrimPrefix(path+"."+name, ".")
		index, known := fields[name]
		switch {
		case !known && d.strict:
			meant := ""
			for other := range fields {
				if strings.EqualFold(other, name) {
					meant = fmt.Sprintf(", did you mean %q?", other)
				}
			}
			return api.Refuse(at, "unknown field %.100q%s", name, meant)
		case !known:
			_, err := d.Skip()
			return err
		case seen[name] && d.strict:
			return twice(at)
		}
		seen[name] = true
		return d.value(into.FieldByIndex(index), at)
	})
}

func twice(path string) error { return api.Refuse(path, "%q is there twice", path) }

// value reads a value into one that is zero. Null leaves it, as if it were absent.
func (d decoder) value(into reflect.Value, path string) error {
	kind := d.Kind()
	switch own := into.Addr().Interface().(type) {
	case *json.RawMessage:
		raw, err := d.Skip()
		*own = bytes.Clone(raw)
		return err
	case *content.Content:
		raw, err := d.Skip()
		if err == nil {
			err = own.UnmarshalJSON(raw)
		}
		return err
	}
	if kind == 'n' {
		_, err := d.Skip()
		return err
	}
	switch into.Kind() {
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		return d.value(into.Elem(), path)
	case reflect.Struct:
		if kind == '{' {
			return d.object(into, path)
		}
	case reflect.Slice:
		if kind == '[' {
			return d.list(into, path)
		}
	case reflect.Map:
		if kind == '{' {
			return d.settings(into, path)
		}
	case reflect.String:
		if kind == '"' {
			return d.text(into, path)
		}
	}
	raw, err := d.Skip()
	if err != nil {
		return err
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](json.Unmarshal(raw, into.Addr().Interface())); ok {
		// encoding/json names Go types, which mean nothing to an author in another language.
		return api.Refuse(path, "%s must be %s, not %s", strconv.Quote(path), plainType(into.Type()), wrong.Value)
	}
	return nil
}

// list reads a list. Of entries, the error has the position of the one that is wrong.
func (d decoder) list(into reflect.Value, path string) error {
	into.Set(reflect.MakeSlice(into.Type(), 0, 0))
	return d.Array(func(i int) error {
		into.Grow(1)
		into.SetLen(i + 1)
		err := d.value(into.Index(i), api.Path(path, i, ""))
		if !errors.Is(err, content.ErrNotAnEntry) {
			return err
		}
		part := ""
		if bad, ok := errors.AsType[*content.PathError](err); ok {
			part = bad.Path
		}
		err = fmt.Errorf("add entry %d: %w: %w", i, host.ErrInvalidEntry, err)
		return &api.Error{Kind: api.KindEntry, Entry: &i, Field: api.Path(path, i, part), Message: err.Error(), Err: err}
	})
}

// settings reads an object of any values.
func (d decoder) settings(into reflect.Value, path string) error {
	into.Set(reflect.MakeMap(into.Type()))
	return d.Object(func(raw []byte) error {
		name := string(raw)
		key := reflect.ValueOf(name)
		if into.MapIndex(key).IsValid() && d.strict {
			return twice(path + "." + name)
		}
		text, err := d.Skip()
		if err != nil {
			return err
		}
		value := reflect.New(into.Type().Elem())
		if err := json.Unmarshal(text, value.Interface()); err != nil {
			return err
		}
		into.SetMapIndex(key, value.Elem())
		return nil
	})
}

// text reads a text, such as an id. One that is not UTF-8 would be another one when it is read.
func (d decoder) text(into reflect.Value, path string) error {
	raw, err := d.Skip()
	if err != nil {
		return err
	}
	text, _ := rawjson.Text(raw)
	half := strings.ContainsRune(text, utf8.RuneError) && !bytes.Contains(raw, []byte("\uFFFD")) &&
		!bytes.Contains(bytes.ToLower(raw), []byte(`\ufffd`))
	if d.strict && (half || !utf8.Valid(raw)) {
		return api.NotText(path)
	}
	into.SetString(text)
	return nil
}

// plainType names a Go type in the words of JSON.
func plainType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.String:
		return "text"
	case reflect.Int:
		return "a whole number"
	case reflect.Uint64:
		return "a whole number of at least 0"
	case reflect.Bool:
		return "true or false"
	default:
		return "a " + t.Kind().String()
	}
}
