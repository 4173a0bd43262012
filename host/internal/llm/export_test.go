package llm

import (
	"context"
	"time"
)

// SetSleep makes a client wait by f.
func (c *Client) SetSleep(f func(context.Context, time.Duration) error) { c.sleep = f }

// SetNow makes a client read f for a clock.
func (c *Client) SetNow(f func() time.Time) { c.now = f }

var (
	Backoff    = backoff
	RetryAfter = retryAfter
	ReadWords  = func(body []byte) [3]string {
		w := readWords(body)
		return [3]string{w.kind, w.code, w.message}
	}
)
