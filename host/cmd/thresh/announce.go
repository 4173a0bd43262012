package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/thresh-dev/thresh/internal/atomicfile"
)

// announcement is how 'thresh top' finds a proxy that 'thresh wrap' runs: a file next to the local user's token,
// which only the user can read. It has a token of its own, because another process may get the port when the proxy is
// gone. Everyone on the machine may connect to the port; only who can read the file has the token.
type announcement struct {
	// PID is the process that wraps, not the agent's. URL is where its proxy listens, without a path.
	PID   int    `json:"pid"`
	URL   string `json:"url"`
	Token string `json:"token"`
	// path is where the file is, "" if it could not be written. It is not part of the file.
	path string
}

// announcements are the files, by the directory of the token file. pid is a process id, or "*" for all. The process
// id is in the name, so that no process overwrites another's file.
func announcements(tokenFile, pid string) string {
	return filepath.Join(filepath.Dir(tokenFile), "wrap-"+pid+".json")
}

// announce writes the file. That it cannot be written is no error: the agent works, and is only not found. It is
// called once the proxy listens, so that a reader of the file can connect. Each run has another token.
func announce(tokenFile, url string) announcement {
	a := announcement{PID: os.Getpid(), URL: url, Token: rand.Text()}
	if tokenFile == "" || os.MkdirAll(filepath.Dir(tokenFile), 0o700) != nil {
		return a
	}
	a.path = announcements(tokenFile, fmt.Sprint(a.PID))
	// Readers may look at any time: they must never see half a file.
	_ = atomicfile.Write(a.path, 0o600, func(w io.Writer) error { return json.NewEncoder(w).Encode(a) })
	return a
}

// withdraw removes the file.
func (a announcement) withdraw() {
	if a.path != "" {
		_ = os.Remove(a.path)
	}
}

// announced returns the proxies that run. Files of those that were killed are removed. Its errors are not reported: a
// file that is not what it should be is a proxy that cannot be asked. Where the process id belongs to another process
// by now, the file stays, and asking its address fails.
func announced(tokenFile string) []announcement {
	if tokenFile == "" {
		return nil
	}
	paths, _ := filepath.Glob(announcements(tokenFile, "*"))
	var running []announcement
	for _, path := range paths {
		text, err := os.ReadFile(path)
		a := announcement{path: path}
		if err != nil || json.Unmarshal(text, &a) != nil {
			continue
		}
		// Signal 0 only asks whether the process exists. EPERM means that it does, as another user's.
		if errors.Is(syscall.Kill(a.PID, 0), syscall.ESRCH) {
			a.withdraw()
			continue
		}
		running = append(running, a)
	}
	return running
}
