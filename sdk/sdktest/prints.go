package sdktest

import (
	"io"
	"os"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/internal/text"
)

// stdout is held while os.Stdout is another file: tests of several strategies may run at once.
var stdout sync.Mutex

// prints looks for a strategy that writes to standard output in its calls. The plain session is enough.
func (r *run) prints() {
	for _, sample := range r.histories {
		if sample.Name != samples.Plain {
			continue
		}
		printed, err := captured(func() {
			if r.optimizer != nil {
				_, _ = r.optimize("p", sample.History, r.c) // the answers are judged later
			}
			_, _ = r.compressSample(sample)
		})
		if err != nil {
			r.tb.Fatalf("sdktest: looking for what is printed: %v", err)
		}
		if printed != "" {
			r.complain(sample.Name, refused("call", &check.Error{Index: -1, Err: conform.ErrPrints,
				Came: text.OneLine(printed, 100)}))
		}
	}
}

// captured returns what f writes to os.Stdout.
func captured(f func()) (string, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return "", err
	}
	stdout.Lock()
	defer stdout.Unlock()
	old := os.Stdout
	os.Stdout = write
	var b strings.Builder
	done := make(chan error, 1)
	go func() { _, err := io.Copy(&b, read); done <- err }()
	func() {
		defer func() { os.Stdout = old; _ = write.Close() }()
		f()
	}()
	err = <-done
	_ = read.Close()
	return b.String(), err
}
