package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/host"
)

// Call is a request that was read: a method with its parameters.
type Call struct {
	Method *Method
	// Session is the id of the session that it is about; "" if it is about none.
	Session string
	// Params points to the parameters.
	Params any
	run    func(context.Context, *Service, *Session, *host.Point) (any, error)
}

// doing is what a method does with which types.
type doing struct {
	Params, Result reflect.Type
	// OfSession says that the method is about an open session, ByDoor that a door does it: it is about its connection,
	// or about which sessions are open.
	OfSession, ByDoor bool
	bind              func(read func(any) error) (*Call, error)
}

func ofSession[R, A any](method func(*Session, context.Context, R) (A, error)) doing {
	return bound(true, func(ctx context.Context, _ *Service, s *Session, r *R, upTo *host.Point) (A, error) {
		if m, ok := any(r).(interface{ at(*host.Point) }); ok {
			m.at(upTo)
		}
		return method(s, ctx, *r)
	})
}

func ofHost[R, A any](method func(*Service, context.Context, R) (A, error)) doing {
	return bound(false, func(ctx context.Context, s *Service, _ *Session, r *R, _ *host.Point) (A, error) {
		return method(s, ctx, *r)
	})
}

func byDoor[R, A any]() doing {
	d := bound[R, A](false, nil)
	d.ByDoor = true
	return d
}

func bound[R, A any](session bool,
	run func(context.Context, *Service, *Session, *R, *host.Point) (A, error)) doing {
	result := reflect.TypeFor[A]()
	if result.Kind() == reflect.Pointer {
		result = result.Elem()
	}
	return doing{Params: reflect.TypeFor[R](), Result: result, OfSession: session,
		bind: func(read func(any) error) (*Call, error) {
			r := new(R)
			if err := read(r); err != nil {
				return nil, err
			}
			c := &Call{Params: r}
			if of, ok := any(r).(interface{ about() string }); ok {
				c.Session = of.about()
			}
			if run != nil {
				c.run = func(ctx context.Context, s *Service, of *Session, upTo *host.Point) (any, error) {
					return run(ctx, s, of, r, upTo)
				}
			}
			return c, nil
		}}
}

// Read reads the parameters of a method, an object, which is all that there may be. An unknown name is an error: it is
// most likely misspelt, and ignoring it would do something else than the agent meant.
func (m *Method) Read(from io.Reader) (*Call, error) {
	c, err := m.bind(func(into any) error { return decode(from, into, true) })
	if err != nil {
		return nil, err
	}
	c.Method = m
	if c.Session == "" && (m.OfSession || m.Params == reflect.TypeFor[Of]()) {
		return nil, wrongRequest("session", `"session" is missing: it is what session.open returned`)
	}
	return c, nil
}

// Run calls a method that is not a door's own: of is its session, nil if it is about none. upTo is the moment when the
// request came, for methods that run later; nil is now.
func (c *Call) Run(ctx context.Context, s *Service, of *Session, upTo *host.Point) (any, error) {
	return c.run(ctx, s, of, upTo)
}

// Read reads an object into a struct, and nothing else. Members that the struct does not have are ignored, for callers
// that others wrote.
func Read(from io.Reader, into any) error { return decode(from, into, false) }

func decode(from io.Reader, into any, strict bool) error {
	var read beginning
	dec := json.NewDecoder(io.TeeReader(from, &read))
	if strict {
		dec.DisallowUnknownFields()
	}
	err := dec.Decode(into)
	if err == nil {
		if _, err = dec.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err == nil {
			return wrongRequest("", "something follows the object")
		}
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return wrongRequest("", "not JSON at byte %d: %v", syntax.Offset, err)
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return wrongRequest("", "must be an object, with parameters by name")
		}
		field := read.pathAt(wrong.Offset)
		what := strconv.Quote(field)
		if field == "" {
			what = fmt.Sprintf("the value at byte %d", wrong.Offset)
		}
		// encoding/json names Go types, which mean nothing to an author in another language.
		return wrongRequest(field, "%s must be %s, not %s", what, plainType(wrong.Type), wrong.Value)
	}
	switch {
	case errors.Is(err, io.EOF):
		return wrongRequest("", "the request is empty; one without parameters is {}")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return wrongRequest("", "the request ends in the middle of its JSON")
	}
	if _, name, unknown := strings.Cut(err.Error(), "json: unknown field "); unknown {
		return wrongRequest(strings.Trim(name, `"`), "unknown field %s", name)
	}
	return fmt.Errorf("read the request: %w", err)
}

// beginning keeps what is written to it, up to as much as there is of members with a type of their own. What may be
// longer is kept as it is, and has no error here.
type beginning []byte

const maxKept = 1 << 20

func (b *beginning) Write(p []byte) (int, error) {
	*b = append(*b, p[:min(len(p), maxKept-len(*b))]...)
	return len(p), nil
}

// pathAt returns the path of the value that ends at an offset, or of the list or object that opens before it, with the
// positions in lists, which package json leaves out. "" if the beginning does not have it.
func (b beginning) pathAt(offset int64) string {
	type open struct {
		list  bool
		at    int    // in a list
		name  string // in an object
		named bool   // its value follows
	}
	var within []open
	for dec := json.NewDecoder(bytes.NewReader(b)); ; {
		token, err := dec.Token()
		if err != nil {
			return ""
		}
		top := len(within) - 1
		if token == json.Delim(']') || token == json.Delim('}') {
			within = within[:top]
			continue
		}
		if top >= 0 {
			switch in := &within[top]; {
			case in.list:
				in.at++
			case !in.named:
				in.name, in.named = token.(string), true
				continue
			default:
				in.named = false
			}
		}
		if dec.InputOffset() >= offset {
			var path strings.Builder
			for _, in := range within {
				if in.list {
					fmt.Fprintf(&path, "[%d]", in.at)
				} else {
					path.WriteString("." + in.name)
				}
			}
			return strings.TrimPrefix(path.String(), ".")
		}
		if delim, ok := token.(json.Delim); ok {
			within = append(within, open{list: delim == '[', at: -1})
		}
	}
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
