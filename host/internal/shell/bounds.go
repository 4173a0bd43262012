package shell

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// A model, a client or a recording may hold any text as a command. Beyond these bounds its effects are unknown, so it
// makes nothing stale.
const (
	// maxCommand is in bytes: as much as Linux hands a program in one argument, so "bash -c" runs none that is longer.
	maxCommand = 128 << 10
	// maxDepth is how many nodes of the syntax tree may stand in one another. "a && b" adds two to that of a.
	maxDepth = 500
	// maxFiles and maxPath, in bytes, keep the answer in proportion to the command: each file has its directory's name.
	maxFiles = 1000
	maxPath  = 4096
	// maxCalls is how deep the parser may descend, in calls. A node takes four to eight, in "$((" up to 18.
	maxCalls = 8 * maxDepth
)

// parsers are reused: a new one takes more memory than a usual command, and a plugin's first call brings a whole
// session.
var parsers = sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }}

func parse(command string) (file *syntax.File, ok bool) {
	p := parsers.Get().(*syntax.Parser)
	file, err := p.Parse(&shallow{command: strings.NewReader(command)}, "")
	parsers.Put(p)
	return file, err == nil
}

// shallow hands a command to the parser, which descends with its nesting and has no bound of its own: a stack that
// overflows ends the process. The parser asks for the next bytes from as deep as it has come.
type shallow struct {
	command *strings.Reader
}

var errTooDeep = errors.New("nested too deep")

func (s *shallow) Read(p []byte) (int, error) {
	var frame [1]uintptr
	if runtime.Callers(maxCalls, frame[:]) > 0 {
		return 0, errTooDeep
	}
	const each = 256 // bytes: what it can descend between two looks
	return s.command.Read(p[:min(len(p), each)])
}

var _ io.Reader = (*shallow)(nil)
