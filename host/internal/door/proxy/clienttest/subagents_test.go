package clienttest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// stored are the sessions of a store in a place, as thresh lists them.
type stored struct {
	ID, Parent      string
	Entries, Tokens int
}

// storeIn is the setting of a store in a place.
func (p place) storeIn() string { return "sqlite:" + filepath.Join(p.home, "sessions.db") }

func (p place) sessions(t *testing.T) []stored {
	t.Helper()
	cmd := exec.Command(p.thresh(), "--set", "sessions.store="+p.storeIn(), "sessions", "list", "-o", "json")
	cmd.Env, cmd.Stderr = p.environ(""), os.Stderr
	out, err := cmd.Output()
	var list struct{ Sessions []stored }
	if err == nil {
		err = json.Unmarshal(out, &list)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return list.Sessions
}

// A subagent has a session of its own, whose parent is the agent's.
func TestSubagentsHaveAParent(t *testing.T) {
	t.Parallel()
	for _, c := range clients {
		if !c.named() || c.name == "codex-own-provider" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.installed(t)
			p := newPlace(t)
			script := append([]modelapi.Turn{{modelapi.Delegate()}, {modelapi.Wait()}}, modelapi.FixIt()...)
			up := modelapi.New(modelapi.Options{Script: script, Dir: p.project})
			defer up.Close()
			p.run(t, c, up.URL, "--set", "sessions.store="+p.storeIn(), "wrap").check(t, p, up)
			all := p.sessions(t)
			begun, parent := 0, ""
			for _, s := range all {
				if s.Parent == "" {
					begun, parent = begun+1, s.ID
				}
			}
			for _, s := range all {
				if s.Parent != "" && s.Parent != parent {
					t.Errorf("the parent of %s is %s", s.ID, s.Parent)
				}
			}
			if begun != 1 || len(all) != 2 {
				t.Errorf("sessions: %+v", all)
			}
		})
	}
}
