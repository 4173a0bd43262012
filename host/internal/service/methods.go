package service

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/host/api"
)

// byName is [api.Methods], found by name.
var byName = sync.OnceValue(func() map[string]*api.Method {
	all := map[string]*api.Method{}
	for _, m := range api.Methods() {
		all[m.Name] = m
	}
	return all
})

// At returns a door's methods.
func At(door api.Door) []*api.Method {
	return slices.DeleteFunc(slices.Clone(api.Methods()), func(m *api.Method) bool { return m.Only != 0 && m.Only != door })
}

// Find returns the method of a door with a name. The error lists them all: an agent's author sees it once.
func Find(door api.Door, name string) (*api.Method, error) {
	if m := byName()[name]; m != nil && (m.Only == 0 || m.Only == door) {
		return m, nil
	}
	var known []string
	for _, m := range At(door) {
		known = append(known, m.Name)
	}
	unknown := api.Refuse("", "unknown method %.100q; want one of: %s", name, strings.Join(known, ", "))
	unknown.Status = http.StatusNotFound
	return nil, unknown
}

// Members describes the object that is sent or returned by its members; "?" marks one that may be absent.
func Members(t reflect.Type) string {
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		tag := f.Tag.Get("json")
		if f.Anonymous || tag == "-" || tag == "" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if options != "" {
			name += "?"
		}
		names = append(names, name)
	}
	return fmt.Sprintf("{%s}", strings.Join(names, ", "))
}

// SessionOf is the id of the session that a method's parameters name; "" if they name none.
func SessionOf(params any) string {
	if of, ok := params.(interface{ About() string }); ok {
		return of.About()
	}
	return ""
}
