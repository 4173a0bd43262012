package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/thresh-dev/thresh/internal/atomicfile"
)

// announcement is how 'thresh top' finds a proxy that 'thresh wrap' runs: a file next to the local user's token, which
// only the user can read. Anyone on the machine may connect to the port, and another process may get it later, hence a
// token of its own.
type announcement struct {
	// PID is the process that wraps, not the agent's. URL is where its proxy listens, without a path.
	PID   int    `json:"pid"`
	URL   string `json:"url"`
	Token string `json:"token"`
	// path is where the file is, "" if it could not be written. It is not part of the file.
	path string
}

// announcements are the files, by the directory of the token file. pid is a process id, or "*" for all. No process
// overwrites another's file.
func announcements(tokenFile, pid string) string {
	return filepath.Join(filepath.Dir(tokenFile), "wrap-"+pid+".json")
}

// announce writes the file, once the proxy listens. A failure is no error: the agent works, and is only not found.
func announce(tokenFile, url string) announcement {
	a := announcement{PID: os.Getpid(), URL: url, Token: rand.Text()}
	if tokenFile == "" || os.MkdirAll(filepath.Dir(tokenFile), 0o700) != nil {
		return a
	}
	a.path = announcements(tokenFile, fmt.Sprint(a.PID))
	_ = atomicfile.Write(a.path, atomicfile.Private, func(w io.Writer) error { return json.NewEncoder(w).Encode(a) })
	return a
}

func (a announcement) withdraw() {
	if a.path != "" {
		_ = os.Remove(a.path)
	}
}

// announced returns the running proxies, and removes files of those that were killed. A broken file is a proxy that
// cannot be asked. If the process id belongs to another process by now, the file is kept, and asking its address fails.
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
		if !runs(a.PID) {
			a.withdraw()
			continue
		}
		running = append(running, a)
	}
	return running
}
