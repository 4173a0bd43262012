package recordings

import (
	"fmt"
	"os"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
)

// noteTotals adds what droid says of the usage of a session, which it sums up in a file beside it: of each request it
// says nothing.
func noteTotals(t *transcript.Transcript, path string) {
	if t.Format != transcript.Droid {
		return
	}
	about, err := os.ReadFile(strings.TrimSuffix(path, ".jsonl") + ".settings.json")
	if err != nil {
		return
	}
	total := ordered.Of(about).Object("tokenUsage")
	count := func(name string) int {
		n, _ := ordered.Whole(total.Raw(name))
		return n
	}
	if total == nil {
		return
	}
	t.Notes = append(t.Notes, transcript.Note{Entry: -1, Kind: "the usage of a session as a whole", Message: fmt.Sprintf(
		"droid counted %d tokens of prompts, of which %d came from the cache and %d were written to it, and %d of answers; "+
			"it says nothing of each request, so that what is shown is estimated",
		count("inputTokens")+count("cacheReadTokens")+count("cacheCreationTokens"), count("cacheReadTokens"),
		count("cacheCreationTokens"), count("outputTokens")+count("thinkingTokens"))})
}
