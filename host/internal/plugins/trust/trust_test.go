package trust

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestWhatIsRecordedForAFile(t *testing.T) {
	known := map[string]Entry{
		"/a/thresh-strategy-x": {SHA256: "1", Path: "/a/thresh-strategy-x"},
		"/b/thresh-strategy-x": {SHA256: "2", Path: "/b/thresh-strategy-x"},
		"/b/thresh-strategy-y": {SHA256: "3", Path: "/b/thresh-strategy-y"},
	}
	for name, test := range map[string]struct{ path, sum, want string }{
		"as it was":                          {"/a/thresh-strategy-x", "1", "/a/thresh-strategy-x"},
		"changed":                            {"/a/thresh-strategy-x", "9", "/a/thresh-strategy-x"},
		"changed to another's of the name":   {"/a/thresh-strategy-x", "2", "/a/thresh-strategy-x"},
		"a copy":                             {"/c/thresh-strategy-x", "2", "/b/thresh-strategy-x"},
		"a copy under another name":          {"/c/thresh-strategy-z", "2", ""},
		"another one with the same name":     {"/c/thresh-strategy-x", "9", ""},
		"one of another name next to a copy": {"/c/thresh-strategy-y", "1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok, _ := find(known, test.path, test.sum)
			if diff := cmp.Diff(test.want, got.Path); diff != "" || ok != (test.want != "") {
				t.Error(ok, diff)
			}
		})
	}
}

func TestAGroupOfOnesOwnIsNobodyElse(t *testing.T) {
	g := &guard{user: 1000, groups: filepath.Join(t.TempDir(), "group")}
	if err := os.WriteFile(g.groups, []byte("alice:x:1000:\nbob:x:1001:bob\ncarol:x:1002:carol,mallory\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		uid, gid uint32
		want     bool
	}{{1000, 1000, true}, {1001, 1001, true}, {1002, 1002, false}, {1000, 1001, false}, {1003, 1003, true}} {
		if got := g.writable(&unix.Stat_t{Mode: 0o775, Uid: test.uid, Gid: test.gid}) == ""; got != test.want {
			t.Errorf("user %d, group %d: %v", test.uid, test.gid, got)
		}
	}
}

func TestHostsThatLockAtTheSameTimeLoseNothing(t *testing.T) {
	l := lockFile{path: filepath.Join(t.TempDir(), "plugins.lock")}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if err := l.change(func(p map[string]Entry) {
				p[fmt.Sprint("p", i)] = Entry{SHA256: "x", Info: json.RawMessage(`{}`)}
			}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := l.read()
	if err != nil || len(got) != 20 {
		t.Errorf("%d plugins, %v", len(got), err)
	}
	left, err := os.ReadDir(filepath.Dir(l.path))
	if err != nil || len(left) != 1 {
		t.Errorf("left: %v %v", left, err)
	}
}
