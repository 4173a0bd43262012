package llm

import (
	"context"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// MaxWait is the longest wait between two attempts. If a provider asks for more, the caller decides.
const MaxWait = time.Minute

const (
	firstBackoff = 500 * time.Millisecond
	lastBackoff  = 8 * time.Second
)

// backoff returns how long to wait after some attempts if the provider names no time. Half of it is random, so clients
// that failed together do not retry together.
func backoff(attempts int) time.Duration {
	d := lastBackoff
	if shift := attempts - 1; shift < 10 {
		d = min(d, firstBackoff<<shift)
	}
	return d/2 + rand.N(d/2+1)
}

// retryAfter returns how long the provider asks to wait; 0 if it does not. Retry-After-Ms is OpenAI's and more
// precise; Retry-After is in seconds or an HTTP date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if d, ok := scaled(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	text := h.Get("Retry-After")
	if d, ok := scaled(text, time.Second); ok {
		return d
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// scaled parses a number of units; one too large becomes the longest duration.
func scaled(text string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(n, 1) || math.IsNaN(n) || n < 0 {
		return 0, false
	}
	if n >= float64(math.MaxInt64)/float64(unit) {
		return math.MaxInt64, true
	}
	return time.Duration(n * float64(unit)), true
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
