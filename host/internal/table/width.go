package table

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// DefaultWidth is the width of a line, in characters, where no terminal tells another.
const DefaultWidth = 80

// Width returns how many characters a line has on out: the terminal's. For a pipe or a file it is columns, the
// value of the environment variable COLUMNS, or [DefaultWidth].
func Width(out io.Writer, columns string) int {
	if f, ok := out.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 { // a terminal that knows its size
			return width
		}
	}
	if width, err := strconv.Atoi(columns); err == nil && width > 0 {
		return width
	}
	return DefaultWidth
}
