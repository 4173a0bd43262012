package config

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"

	"go.yaml.in/yaml/v3"

	"github.com/thresh-dev/thresh/internal/atomicfile"
)

// maxFileBytes bounds a settings file; one with every setting is below 20 kB. It also bounds the work: the YAML library
// compares every two keys of a mapping.
const maxFileBytes = 128 << 10

// loadFile reads a file into a layer. An optional file may be missing; found reports whether it exists.
func loadFile(path string, name Layer, optional bool, pl places, p *problems) (l *layer, found bool) {
	l = newLayer(name)
	at := Origin{Layer: name, File: path}
	// Found even if unreadable: [Config.Files] names it.
	fail := func(e *Error) (*layer, bool) {
		p.unread = true
		p.add("", e)
		return l, true
	}
	var data []byte
	var err error
	if path != os.DevNull { // the way to say "no file"
		data, err = atomicfile.Text(path, maxFileBytes)
	}
	if optional && errors.Is(err, fs.ErrNotExist) {
		return l, false
	}
	if err != nil {
		return fail(&Error{Origin: at, Problem: "cannot be read as a file of settings", Err: err})
	}
	root, bad := parse(data)
	if bad != nil {
		bad.Origin.Layer, bad.Origin.File = name, path
		return fail(bad)
	}
	if root != nil {
		w := &walker{layer: l, file: path, places: pl, problems: p, seen: map[string]int{}}
		w.table("", root)
	}
	return l, true
}

// parse returns the root mapping of a YAML document; nil if it is empty or only comments.
func parse(data []byte) (*yaml.Node, *Error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	if err := decoder.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, syntaxError(data, err)
	}
	if err := decoder.Decode(&second); err == nil {
		return nil, &Error{Origin: Origin{Line: second.Line}, Problem: "begins a second YAML document",
			Allowed: "one document in a file"}
	} else if !errors.Is(err, io.EOF) {
		return nil, syntaxError(data, err)
	}
	if len(doc.Content) == 0 || isNull(doc.Content[0]) {
		return nil, nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, &Error{Origin: Origin{Line: root.Line}, Value: show(plain(root)),
			Problem: "is not allowed as the whole file",
			Allowed: "a table of settings, such as \"compression:\""}
	}
	return root, nil
}
