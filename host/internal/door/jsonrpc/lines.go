package jsonrpc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

// Line is one line of the input, or what was wrong with it: exactly one of the two is set. Text has its line break,
// except at the end of an input without one.
type Line struct {
	Text    []byte
	Problem *Error
}

// ReadLines sends the lines of in until it ends. A line of more than longest bytes is skipped and sent as a problem:
// the lines after it may be good. It returns nil at the end of in or of ctx, and the error of a read otherwise. It
// does not close lines.
func ReadLines(ctx context.Context, in io.Reader, longest int, lines chan<- Line) error {
	// The buffer is a unit of reading, not a bound: longer lines are put together.
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		l, err := readLine(r, longest)
		// The end of the input after a line break is no line.
		if len(l.Text) > 0 || l.Problem != nil {
			select {
			case lines <- l:
			// No one takes lines any more. A Read that is blocked ends with the process.
			case <-ctx.Done():
				return nil
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
	}
}

// readLine reads up to the end of a line, or of the input.
func readLine(r *bufio.Reader, longest int) (Line, error) {
	var l Line
	for {
		part, err := r.ReadSlice('\n')
		// What was read of the line is let go at once: a line without an end must not fill the memory.
		if l.Problem == nil && len(l.Text)+len(part) > longest {
			l = Line{Problem: &Error{Code: CodeInvalid,
				Message: fmt.Sprintf("a line of more than %d bytes: send fewer entries at a time", longest)}}
		}
		if l.Problem == nil {
			l.Text = append(l.Text, part...)
		}
		// A full buffer is the middle of a line; nil is its end.
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l, err
		}
	}
}
