package compare

import (
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/pricing"
)

// recordedCache follows the provider's prompt cache as the recorder met it: what was read from it and written to it.
// The pauses, the breakpoints and the misses of the recorded session are those of every variant. The zero value is
// before the first request of a context.
type recordedCache struct {
	sent, nothing int // tokens of the last request, with the strategy and without
}

// request returns what a request reads and writes where the recorder's own did what u says. whole says that it begins
// with all of the last one; r.Stable is what it has in common with it.
func (c recordedCache) request(u *transcript.Usage, r pricing.Request, whole bool) pricing.Prompt {
	read := u.CacheRead
	switch expected := min(c.nothing, u.PromptTokens); {
	case c.nothing == 0: // such as the system prompt, from an earlier session
	case 5*u.CacheRead < 4*expected:
		// The cache had expired, or the recorder had changed its history. What was read is the beginning.
		if !whole {
			read = min(read, r.Stable)
		}
	default:
		// Somewhat less than the last request is read, as the last breakpoint is before its end, or more.
		read = min(c.sent, r.Tokens) + u.CacheRead - expected
		if !whole {
			read = min(read, r.Stable)
		}
	}
	read = min(max(read, 0), r.Tokens)
	p := recordedPrompt(u)
	rest, of := r.Tokens-read, p.Uncached+p.CacheWrite+p.CacheWriteHour
	part := func(n int) int {
		if of == 0 {
			return 0
		}
		return int(int64(rest) * int64(n) / int64(of))
	}
	out := pricing.Prompt{CacheRead: read, CacheWrite: part(p.CacheWrite), CacheWriteHour: part(p.CacheWriteHour)}
	out.Uncached = rest - out.CacheWrite - out.CacheWriteHour
	return out
}

func recordedPrompt(u *transcript.Usage) pricing.Prompt {
	return pricing.Prompt{
		CacheRead: u.CacheRead, CacheWrite: u.CacheWrite - u.CacheWriteHour, CacheWriteHour: u.CacheWriteHour,
		Uncached: max(u.PromptTokens-u.CacheRead-u.CacheWrite, 0),
	}
}
