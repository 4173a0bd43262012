package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/thresh-dev/thresh/host/config"
)

// liveTop draws the view until the context ends or a person quits, on the terminal's alternate screen: what was there
// before comes back.
func (a *app) liveTop(ctx context.Context, c *config.Config, out *os.File) error {
	const (
		enter = "\x1b[?1049h\x1b[?25l"
		leave = "\x1b[?25h\x1b[?1049l"
	)
	var pressed <-chan byte // nil without a keyboard
	footer := ""
	if in, ok := a.in.(*os.File); ok && term.IsTerminal(int(in.Fd())) {
		if before, err := term.MakeRaw(int(in.Fd())); err == nil {
			defer func() { _ = term.Restore(int(in.Fd()), before) }()
			pressed, footer = keys(in), "q quits, ? helps"
		}
	}
	fmt.Fprint(out, enter)
	defer fmt.Fprint(out, leave)
	tick := time.NewTicker(topEvery)
	defer tick.Stop()
	help := false
	for {
		view := topMeaning
		if !help {
			var err error
			if view, err = a.topView(ctx, c); err != nil || ctx.Err() != nil {
				return err
			}
		}
		// Asked each time: windows are resized.
		_, height, err := term.GetSize(int(out.Fd()))
		if err != nil {
			return err
		}
		fmt.Fprint(out, frame(view, footer, height))
		select {
		case <-ctx.Done():
			return nil
		case key, more := <-pressed:
			switch {
			case !more:
				pressed = nil // the keyboard is gone; the view goes on
			case key == 'q' || key == 'Q' || key == interrupt:
				return nil
			default:
				help = key == '?' && !help
			}
		case <-tick.C:
		}
	}
}

// interrupt is what Ctrl-C sends while the terminal passes on every key.
const interrupt = 3

// keys yields the keys that are pressed, until in ends.
func keys(in io.Reader) <-chan byte {
	out := make(chan byte)
	go func() {
		defer close(out)
		for key := make([]byte, 1); ; {
			if _, err := in.Read(key); err != nil {
				return
			}
			out <- key[0]
		}
	}()
	return out
}

// topView is what the hosts say now, or that there is none.
func (a *app) topView(ctx context.Context, c *config.Config) (string, error) {
	seen, none := watched(ctx, c)
	if none != nil {
		return none.Error(), nil
	}
	var view bytes.Buffer
	for _, h := range seen {
		if err := a.printHost(&view, h); err != nil {
			return "", err
		}
		fmt.Fprintln(&view)
	}
	return view.String(), nil
}

// frame puts a text onto a screen with a height, with a footer below it: each line replaces the one that was there, and
// what is below is cleared. Clearing first would flicker. The last line of the screen is left empty: a line break there
// would scroll.
func frame(text, footer string, height int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	room := max(height-1, 0)
	if footer != "" {
		room = max(room-2, 0)
	}
	lines = lines[:min(len(lines), room)]
	if footer != "" {
		lines = append(lines, "", footer)
	}
	return "\x1b[H" + strings.Join(lines, "\x1b[K\r\n") + "\x1b[K\x1b[J"
}
