package sqlite

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// What deleted sessions took goes back to the file system, and what is left is whole.
func TestTheSpaceOfDeletedSessionsIsReturned(t *testing.T) {
	s, _ := filled(t)
	other := store.Key{ID: "large"}
	h, err := s.Create(t.Context(), other, store.Origin{})
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		if h, err = s.Append(t.Context(), other, h.Position(), change(strings.Repeat("x", 1<<20))); err != nil {
			t.Fatal(err)
		}
	}
	large, err := s.Size(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Delete(t.Context(), other), s.Close()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(s.path)
	if err != nil || info.Size() > large.Bytes/4 {
		t.Errorf("%d bytes are left of %d: %v", info.Size(), large.Bytes, err)
	}
	s = openFile(t, s.path)
	wantLog(t, s, "first")
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}
