package prompts

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
)

// Compression is the name of the prompt for summaries.
const Compression = "compression"

//go:embed compression.md
var compression string

// Embedded is the [Prompt.Source] of a shipped prompt.
const Embedded = "embedded"

type Prompt struct {
	Text string
	// Source is the path of a file, or [Embedded].
	Source string
}

func Names() []string { return []string{Compression} }

// Resolver resolves prompts. The zero value knows the shipped ones. It caches nothing, so an edited file is used at
// once. It is safe for concurrent use.
type Resolver struct {
	// Dir has files that replace shipped prompts; "" for none. It must exist.
	Dir string
}

// Resolve returns the prompt for a strategy and a model; either may be "". The error is a [sdk.ErrNotFound] for a
// name not among [Names], and a [*FileError] for a file that cannot be used.
func (r Resolver) Resolve(name, strategy, model string) (Prompt, error) {
	if name != Compression {
		return Prompt{}, fmt.Errorf("%w: unknown prompt %q; want one of: %s", sdk.ErrNotFound, name,
			strings.Join(Names(), ", "))
	}
	if r.Dir == "" {
		return Prompt{Text: compression, Source: Embedded}, nil
	}
	info, err := os.Stat(r.Dir)
	if err != nil {
		return Prompt{}, &FileError{File: r.Dir, Err: err}
	}
	if !info.IsDir() {
		return Prompt{}, &FileError{File: r.Dir, Err: errors.New("it is not a directory")}
	}
	for _, file := range r.candidates(name, strategy, model) {
		text, err := read(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Prompt{}, &FileError{File: file, Err: err}
		}
		return Prompt{Text: text, Source: file}, nil
	}
	return Prompt{Text: compression, Source: Embedded}, nil
}

func (r Resolver) candidates(name, strategy, model string) []string {
	strategy, model = folder(strategy), folder(model)
	file := name + ".md"
	var out []string
	if strategy != "" && model != "" {
		out = append(out, filepath.Join(r.Dir, strategy, model, file))
	}
	if strategy != "" {
		out = append(out, filepath.Join(r.Dir, strategy, file))
	}
	if model != "" {
		out = append(out, filepath.Join(r.Dir, model, file))
	}
	return append(out, filepath.Join(r.Dir, file))
}

// longestFolder bounds a directory name, in bytes: file systems allow 255.
const longestFolder = 200

// folder returns a strategy's or model's directory name. Names are from outside, and must not lead out of Dir.
func folder(name string) string {
	out := []byte(name[:min(len(name), longestFolder)])
	for i, c := range out {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-', c == '.' && i > 0:
		default:
			out[i] = '-'
		}
	}
	return string(out)
}

// Eject writes the shipped prompts to dir, which it creates if needed, and returns the files. It never overwrites a
// file: the error is then an [fs.ErrExist] that names it.
func Eject(dir string) (files []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("the prompts cannot be written: %w", err)
	}
	file := filepath.Join(dir, Compression+".md")
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%w: it was not changed; remove or rename it to get the shipped prompt", err)
	}
	if err != nil {
		return nil, fmt.Errorf("the prompts cannot be written: %w", err)
	}
	_, err = out.WriteString(compression)
	if err = errors.Join(err, out.Close()); err != nil {
		_ = os.Remove(file) // a truncated prompt would be used
		return nil, fmt.Errorf("the prompts cannot be written: %w", err)
	}
	return []string{file}, nil
}
