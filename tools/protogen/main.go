// Command protogen generates Go code from the .proto files below a directory. It replaces protoc and needs nothing
// but the module cache.
//
// Usage: protogen -plugin-dir DIR [-check] PROTO_ROOT
//
// With -check it writes nothing. It fails, and names the file, if the committed code differs from what it would
// generate.
//
// It compiles with bufbuild/protocompile and runs the generators from DIR as protoc would. Each package's code is put
// where its go_package says. All versions are pinned in tools/go.mod, so the output is the same on every machine.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/pluginpb"
)

// main exits with 2 for a wrong call and 1 for everything else, such as code that is out of date.
func main() {
	pluginDir := flag.String("plugin-dir", "", "directory that holds the generators")
	check := flag.Bool("check", false, "write nothing; fail if the generated code is out of date")
	flag.Parse()
	if flag.NArg() != 1 || *pluginDir == "" {
		fmt.Fprintln(os.Stderr, "usage: protogen -plugin-dir DIR [-check] PROTO_ROOT")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *pluginDir, *check); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

// run compiles all files below root and passes them to both generators, in one request each: generators see all files
// of a package at once, as with protoc.
func run(root, pluginDir string, check bool) error {
	names, err := protoFiles(root)
	if err != nil {
		return err
	}
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{root}}),
		SourceInfoMode: protocompile.SourceInfoStandard, // comments become godoc
	}
	files, err := compiler.Compile(context.Background(), names...)
	if err != nil {
		return err
	}
	req := &pluginpb.CodeGeneratorRequest{}
	seen := map[string]bool{}
	var add func(protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) { // imports first: generators require this order
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		for i := range f.Imports().Len() {
			add(f.Imports().Get(i).FileDescriptor)
		}
		req.ProtoFile = append(req.ProtoFile, protoutil.ProtoFromFileDescriptor(f))
	}
	for _, f := range files {
		add(f)
	}
	req.FileToGenerate, req.Parameter = names, proto.String("module="+module)
	for _, plugin := range generators {
		files, err := generate(filepath.Join(pluginDir, plugin), req)
		if err != nil {
			return fmt.Errorf("%s: %w", plugin, err)
		}
		for _, f := range files {
			// Names are relative to the module, which holds the root.
			file := filepath.Join(filepath.Dir(root), filepath.FromSlash(f.GetName()))
			if err := put(file, f.GetContent(), check); err != nil {
				return err
			}
		}
	}
	return nil
}

// module is this repository's module. Generators put files below it, by each package's go_package.
const module = "github.com/thresh-dev/thresh"

// generators are the programs that the project uses.
var generators = []string{"protoc-gen-go", "protoc-gen-go-grpc"}

// put writes a generated file, or with check compares it with the committed one. A file that is no longer generated
// is not noticed; delete it by hand.
func put(path, content string, check bool) error {
	if !check {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, []byte(content), 0o644)
	}
	have, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if string(have) != content {
		return fmt.Errorf("%s is out of date: run 'make proto' and commit the result", path)
	}
	return nil
}

// protoFiles returns the paths of all .proto files below root, relative to it, sorted.
func protoFiles(root string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".proto" {
			return err
		}
		rel, err := filepath.Rel(root, path)
		names = append(names, filepath.ToSlash(rel))
		return err
	})
	sort.Strings(names)
	return names, err
}

// generate runs a generator. protoc's plugins read a CodeGeneratorRequest from standard input and write the response
// to standard output. They report errors in the .proto files in the response, with exit status 0.
func generate(plugin string, req *pluginpb.CodeGeneratorRequest) ([]*pluginpb.CodeGeneratorResponse_File, error) {
	in, err := proto.Marshal(req)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(plugin)
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stderr = os.Stderr
	answer, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var resp pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(answer, &resp); err != nil {
		return nil, err
	}
	if resp.Error != nil {
		return nil, errors.New(resp.GetError())
	}
	return resp.File, nil
}
