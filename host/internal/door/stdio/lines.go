package stdio

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

// line is one line of the input, or what was wrong with it.
type line struct {
	text    []byte
	problem *Error
}

// readLines sends the lines of in until it ends. A line of more than longest bytes is skipped and sent as a problem:
// the lines after it may be good.
func readLines(ctx context.Context, in io.Reader, longest int, lines chan<- line) error {
	// The buffer is a unit of reading, not a bound: longer lines are put together.
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		l, err := readLine(r, longest)
		// The end of the input after a line break is no line.
		if len(l.text) > 0 || l.problem != nil {
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
func readLine(r *bufio.Reader, longest int) (line, error) {
	var l line
	for {
		part, err := r.ReadSlice('\n')
		// What was read of the line is let go at once: a line without an end must not fill the memory.
		if l.problem == nil && len(l.text)+len(part) > longest {
			l = line{problem: &Error{Code: CodeInvalid,
				Message: fmt.Sprintf("a line of more than %d bytes: send fewer entries at a time", longest)}}
		}
		if l.problem == nil {
			l.text = append(l.text, part...)
		}
		// A full buffer is the middle of a line; nil is its end.
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l, err
		}
	}
}
