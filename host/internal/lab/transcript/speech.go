package transcript

import (
	"slices"

	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
)

// speech is embedded by readers of recorders that write less than a message per record.
type speech struct {
	messages.Speech
	b *builder
}

func newSpeech(b *builder) speech { return speech{messages.NewSpeech(&b.Builder), b} }

// end is for readers whose entries are complete after each record.
func (s *speech) end() error { return nil }

func stamped(timestamp []byte) (meta ordered.Builder) {
	meta.Raw("timestamp", timestamp)
	return meta
}

func nameIn(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}
