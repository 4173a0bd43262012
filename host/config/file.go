package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
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
	data, err := readFile(path)
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

// readFile returns the text of a small regular file. Its errors do not name the path; the caller's does.
func readFile(path string) ([]byte, error) {
	if path == os.DevNull {
		return nil, nil // the way to say "no file"
	}
	// Before it is opened: opening a named pipe would wait for its writer.
	info, err := os.Stat(path)
	if err != nil {
		return nil, cause(err)
	}
	switch {
	case info.IsDir():
		return nil, errors.New("it is a directory")
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() > maxFileBytes:
		return nil, fmt.Errorf("it is larger than %d bytes", maxFileBytes)
	}
	data, err := os.ReadFile(path)
	switch {
	case err != nil:
		return nil, cause(err)
	// The YAML library would report a position that no editor shows.
	case bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data):
		return nil, errors.New("it is not UTF-8 text")
	}
	return data, nil
}

func cause(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	return err
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
