package table

import (
	"io"
	"os"

	"golang.org/x/term"
)

// DefaultWidth is the width of a line, in characters, where no terminal tells another.
const DefaultWidth = 80

// Width returns how many characters a line has on out: the terminal's, or [DefaultWidth] for a pipe or a file.
func Width(out io.Writer) int {
	f, ok := out.(*os.File)
	if !ok {
		return DefaultWidth
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 { // not a terminal, or one that does not know its size
		return DefaultWidth
	}
	return width
}
