package check

import "fmt"

// Size judges what a Compress came to, in tokens and entries. A result that is not smaller costs the prompt cache and
// gains nothing; an equal count with fewer entries passes, as counts are estimates. One that misses the target has to
// say so, or the host would call again on the next turn.
func Size(tokensBefore, tokensAfter, entriesBefore, entriesAfter int, target float64, missed bool) error {
	switch {
	case tokensAfter > tokensBefore, tokensAfter == tokensBefore && entriesAfter == entriesBefore:
		return fmt.Errorf("the result is not smaller: %d tokens, before %d; answer a no-op with a reason instead",
			tokensAfter, tokensBefore)
	case float64(tokensAfter) > target && !missed:
		return fmt.Errorf("the result has %d tokens, the target is %.0f (threshold × context limit × 0.6), and "+
			"target_missed is not set", tokensAfter, target)
	}
	return nil
}
