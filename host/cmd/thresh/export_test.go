package main

import (
	"context"
	"io"
)

// Execute runs a command as main does, in this process and without its signals, in a working directory with the
// variables given, and returns the exit status.
func Execute(ctx context.Context, dir string, env, args []string, in io.Reader, out, err io.Writer) int {
	a := newApp(place{dir, env}, in, out, err)
	cmd := newRoot(a)
	cmd.SetArgs(args)
	return a.exit(cmd.ExecuteContext(ctx), ctx.Err() != nil)
}
