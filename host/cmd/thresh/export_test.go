package main

import (
	"context"
	"io"
	"os"
	"strings"
)

// Execute runs a command as main does, in this process and without its signals, and returns the exit status.
func Execute(args []string, out io.Writer, err *os.File) int {
	a := &app{in: strings.NewReader(""), out: out, err: safeStderr{err}, hangups: make(chan os.Signal, 1)}
	cmd := newRoot(a)
	cmd.SetArgs(args)
	return a.exit(cmd.ExecuteContext(context.Background()), false)
}
