package main_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A person at a terminal asks what the columns mean, goes back, and quits; the terminal is as it was.
func TestTopHelpsAndQuits(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	screen, keyboard := terminal(t)
	cmd := p.command("top")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = keyboard, keyboard, keyboard
	before, err := unix.IoctlGetTermios(int(keyboard.Fd()), unix.TCGETS)
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	shown := &seen{t: t, screen: screen}
	shown.until("no host runs", "q quits, ? helps")
	shown.press("?")
	shown.until("USD SAVED", "LAST CHANGE", "q quits, ? helps")
	shown.press("x")
	shown.until("no host runs")
	shown.press("q")
	shown.until("\x1b[?1049l")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	after, err := unix.IoctlGetTermios(int(keyboard.Fd()), unix.TCGETS)
	if err != nil || *after != *before {
		t.Errorf("the terminal was %+v and is %+v (%v)", before, after, err)
	}
}

// terminal returns both ends of a new terminal of 100 columns and 30 lines.
func terminal(t *testing.T) (screen, keyboard *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminals: ", err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(screen.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 100})
	}
	if err == nil {
		keyboard, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = keyboard.Close() })
	return screen, keyboard
}

// seen is what was shown on a terminal since the last key.
type seen struct {
	t      *testing.T
	screen *os.File
	text   string
}

func (s *seen) press(key string) {
	s.text = ""
	if _, err := io.WriteString(s.screen, key); err != nil {
		s.t.Fatal(err)
	}
}

// until reads until all of these were shown.
func (s *seen) until(words ...string) {
	s.t.Helper()
	for buffer := make([]byte, 4096); ; {
		missing := ""
		for _, w := range words {
			if !strings.Contains(s.text, w) {
				missing = w
			}
		}
		if missing == "" {
			return
		}
		n, err := s.screen.Read(buffer)
		if err != nil {
			s.t.Fatalf("%q is not shown: %v: %q", missing, err, s.text)
		}
		s.text += string(buffer[:n])
	}
}
