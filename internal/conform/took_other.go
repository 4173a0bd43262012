//go:build !linux

package conform

import "time"

// took returns how long f takes.
func took(f func() error) (time.Duration, error) {
	start := time.Now()
	err := f()
	return time.Since(start), err
}
