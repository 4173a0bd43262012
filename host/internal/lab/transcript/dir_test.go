package transcript_test

import (
	"testing"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
)

// The directory in which the agent worked is read where it was recorded, and goes along into the native form.
func TestTheAgentsDirectory(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"claude code, the first counts": {`{"type":"user","uuid":"1","cwd":"/w/p/","message":{"content":"a"}}
{"type":"user","uuid":"2","cwd":"/w/p/sub","message":{"content":"b"}}`, "/w/p"},
		"codex": {`{"type":"session_meta","payload":{"id":"s","cwd":"/w/p"}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}}`,
			"/w/p"},
		"codex, in the turn": {`{"type":"session_meta","payload":{"id":"s"}}
{"type":"turn_context","payload":{"cwd":"/w/p"}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}}`,
			"/w/p"},
		"native":            {`{"cwd":"/w/p","history":[]}`, "/w/p"},
		"native, no text":   {`{"cwd":7,"history":[]}`, ""},
		"native, relative":  {`{"cwd":"p","history":[]}`, ""},
		"native, no object": {`[]`, ""},
		"openai":            {`{"messages":[{"role":"user","content":"a"}]}`, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := read(t, tt.in)
			if got.Dir != tt.want {
				t.Errorf("read %q, want %q", got.Dir, tt.want)
			}
			native, _ := write(t, got, transcript.Native)
			if again := read(t, native); again.Dir != tt.want {
				t.Errorf("read from the native form %q, want %q", again.Dir, tt.want)
			}
		})
	}
}
