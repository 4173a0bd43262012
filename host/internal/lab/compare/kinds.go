package compare

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/thresh-dev/thresh/host/internal/table"
)

// Kind is how a figure is shown.
type Kind int

// The kinds.
const (
	Count  Kind = iota
	Tokens      // three digits and a unit
	Kept        // a share from 0 to 1, rounded down: 99.96 % must not print as 100.0 %, which says that nothing was lost
	Saving      // a share, below 0 if there was more than without a strategy
	Change      // against doing nothing, with a sign: -0.1 is a tenth less
	USD
	Time // in nanoseconds
)

// Text is how people read a figure.
func (k Kind) Text(v float64) string { return k.text(v, v) }

// text has USD with two significant digits for nothing, at least two and at most six decimals: all rows of a table use
// the digits of doing nothing, so they align and can be compared.
func (k Kind) text(v, nothing float64) string {
	switch k {
	case Tokens:
		return table.Short(int(v))
	case Kept:
		return fmt.Sprintf("%.1f %%", math.Floor(v*1000)/10)
	case Saving:
		return table.Percentage(100 * v)
	case Change:
		// More digits would claim a precision that recorded sessions do not have. "-0.0 %" is noise.
		switch percent := 100 * v; {
		case math.Abs(percent) < 0.05:
			return "0.0 %"
		case math.Abs(percent) < 9.95:
			return fmt.Sprintf("%+.1f %%", percent)
		default:
			return fmt.Sprintf("%+.0f %%", percent)
		}
	case USD:
		digits := 2
		if nothing > 0 && nothing < 1 {
			digits = min(max(1-int(math.Floor(math.Log10(nothing))), 2), 6)
		}
		return strconv.FormatFloat(v, 'f', digits, 64)
	case Time:
		return table.Duration(time.Duration(v))
	default:
		return table.Int(int(v))
	}
}
