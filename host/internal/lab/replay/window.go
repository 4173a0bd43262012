package replay

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/provider/anthropic"
	"github.com/thresh-dev/thresh/host/internal/table"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// BySetting says that the user set the window.
const BySetting pricing.KnownBy = "setting"

// Window is the context window of the model in a recorded session, in the provider's tokens.
type Window struct {
	// Tokens is its size. By is what it is known by; "" if it is unknown: then Tokens is taken for it.
	Tokens int             `json:"tokens"`
	By     pricing.KnownBy `json:"by,omitempty"`
	// Answered is the largest prompt that the recording has an answer to, and Refused the limit that the last refusal
	// told; 0 if the recording does not say.
	Answered int `json:"answered,omitempty"`
	Refused  int `json:"refused,omitempty"`
}

// String says how large it is, and by what that is known.
func (w Window) String() string {
	by := map[pricing.KnownBy]string{BySetting: "as set", pricing.ByAnswer: "by what was answered",
		pricing.ByRefusal: "by a refusal", pricing.ByAgent: "by the agent", pricing.ByModel: "by the model"}
	return "a window of " + table.Int(w.Tokens) + " " + cmp.Or(by[w.By], "as it is not known")
}

// minLimit is the smallest context limit that is taken from an agent's word, in tokens. Models of agents have more; a
// smaller number counts something else.
const minLimit = 8_000

// WindowOf returns the window of a recorded session: the user's, else what the recording and the model's row say.
func WindowOf(h *window.Host, t *transcript.Transcript) Window {
	if c := h.Config(); !open(c, nil, keyLimit) {
		return Window{Tokens: c.Settings().Model.ContextLimit, By: BySetting}
	}
	return recordedWindow(t)
}

func recordedWindow(t *transcript.Transcript) (w Window) {
	seen := pricing.Seen{Refused: lastRefusal(t)}
	if t.ContextLimit >= minLimit {
		seen.Told = t.ContextLimit
	}
	for _, u := range t.Usage {
		seen.Answered = max(seen.Answered, u.PromptTokens)
	}
	w.Tokens, w.By = seen.Window(t.Model)
	w.Answered, w.Refused = seen.Answered, seen.Refused
	return w
}

// lastRefusal returns the limit that the session's last model told by refusing; 0 if it told none.
func lastRefusal(t *transcript.Transcript) (limit int) {
	usage, model := t.Usage, t.Model
	for i, c := range t.Entries {
		for len(usage) > 0 && usage[0].Entry <= i {
			model, usage = usage[0].Model, usage[1:]
		}
		if !refused(c) || model != "" && model != t.Model {
			continue
		}
		// The words of the API, which the agent shows behind its own.
		for _, b := range c.Blocks {
			text, _ := b.(content.Text)
			said := strings.TrimPrefix(text.Text, "API Error: 400 ")
			answer := []byte(said)
			if !json.Valid(answer) && said != "" {
				answer, _ = json.Marshal(map[string]any{"message": strings.ToLower(said[:1]) + said[1:]})
			}
			if r, ok := anthropic.Form.TooLong(400, answer); ok && r.Limit > 0 {
				limit = r.Limit
			}
		}
	}
	return limit
}

// refused reports whether an entry is Claude Code's word on a request that had no answer.
func refused(c content.Content) bool {
	return c.Speaker == content.AI && string(rawjson.Field(c.Metadata, "isApiErrorMessage")) == "true"
}

// Fails reports whether the model would have refused a request if nothing had been done, with room for hard tokens in
// its window. set says that the user set the window: of the recorded one, what was answered had room.
func (q *Request) Fails(hard int, set bool) bool { return q.Projected > hard && (set || !q.Answered) }
