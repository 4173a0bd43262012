package chat

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/internal/lazyregexp"
)

// counts have DeepSeek's and LiteLLM's names too. LiteLLM counts the cached parts apart where it passes on Anthropic's.
var counts = &provider.Counts{
	At: []string{"usage"}, Prompt: []string{"prompt_tokens"}, Output: []string{"completion_tokens"},
	Read:  []string{"cache_read_input_tokens", "prompt_tokens_details.cached_tokens", "prompt_cache_hit_tokens"},
	Write: []string{"cache_creation_input_tokens", "prompt_tokens_details.cache_write_tokens"},
}

// tooLongWords are those of OpenAI and of the servers that imitate it (vLLM, LiteLLM, OpenRouter).
var tooLongWords = lazyregexp.New(`^(?:This|The) (?:model|endpoint)'s maximum context length is (?P<limit>\d+) tokens\b` +
	`(?:.*?(?:resulted in (\d+) tokens|\((\d+) in the messages(?:, (\d+) in the functions)?))?`)

// TooLong reads a refusal: by the error's code or type, and for servers that have none by the whole beginning of its
// message. llama.cpp has the numbers in fields. A 413 is about bytes.
func TooLong(status int, answer []byte) (r provider.Refusal, ok bool) {
	f, found := provider.ReadFault(answer)
	if status != 400 || !found {
		return r, false
	}
	if f.Type == "exceed_context_size_error" {
		r = provider.Refusal{Limit: f.Number("n_ctx"), Tokens: f.Number("n_prompt_tokens")}
		if r.Limit < provider.MinLimit {
			r.Limit = 0
		}
		return r, true
	}
	r, ok = f.Numbers(tooLongWords())
	return r, ok || f.Code == "context_length_exceeded"
}

// request is the part of a request that is used for summaries and probes.
type request struct {
	Model               string    `json:"model"`
	Messages            []message `json:"messages"`
	Tools               []tool    `json:"tools,omitempty"`
	ToolChoice          string    `json:"tool_choice,omitempty"`
	MaxTokens           int       `json:"max_tokens,omitempty"`
	MaxCompletionTokens int       `json:"max_completion_tokens,omitempty"`
	Stream              bool      `json:"stream"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Parameters  any    `json:"parameters"`
}

// message has no content, which is null, where calls take its place.
type message struct {
	Role    string     `json:"role"`
	Content *string    `json:"content"`
	Thought string     `json:"reasoning_content,omitempty"`
	Calls   []toolCall `json:"tool_calls,omitempty"`
	CallID  string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Function calledFunction  `json:"function"`
	Extra    json.RawMessage `json:"extra_content,omitempty"`
}

type calledFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// ask joins the texts of one role with a blank line: many compatible servers accept only one string per message.
func ask(q provider.Question) any {
	r := request{Model: q.Model, Stream: true}
	r.StreamOptions.IncludeUsage = true // without it a stream has no usage
	if q.OldLimit {
		r.MaxTokens = q.MaxOutput
	} else {
		r.MaxCompletionTokens = q.MaxOutput
	}
	for _, t := range q.Tools {
		r.Tools = append(r.Tools, tool{"function", function{t.Name, t.Description, t.Schema}})
	}
	if q.NoCalls {
		r.ToolChoice = "none"
	}
	if q.System != "" {
		r.Messages = append(r.Messages, message{Role: "system", Content: &q.System})
	}
	for _, t := range q.Turns {
		for _, x := range t.Results {
			r.Messages = append(r.Messages, message{Role: "tool", CallID: x.ID, Content: &x.Text})
		}
		m := message{Role: t.Role, Thought: t.Thought}
		for _, c := range t.Calls {
			m.Calls = append(m.Calls, toolCall{c.ID, "function", calledFunction{c.Name, c.Arguments}, c.Extra})
		}
		if len(t.Texts) > 0 {
			m.Content = new(strings.Join(t.Texts, "\n\n"))
		}
		if m.Content != nil || m.Calls != nil {
			r.Messages = append(r.Messages, m)
		}
	}
	return r
}

// hear reads an event. More than the first choice is never requested.
func hear(data []byte) (h provider.Heard, err error) {
	var chunk struct {
		Model   string `json:"model"`
		Choices []struct {
			Index int `json:"index"`
			Delta struct {
				Content string `json:"content"`
				Thought string `json:"reasoning_content"`
			} `json:"delta"`
			FinishReason string `json:"finish_reason"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(data, &chunk); err != nil {
		return h, err
	}
	h.Model = chunk.Model
	h.Usage, _ = counts.Usage(data) // some servers send it with each chunk
	for _, c := range chunk.Choices {
		if c.Index == 0 {
			h.Text, h.Finish = h.Text+c.Delta.Content, max(h.Finish, c.FinishReason)
			h.Thought += c.Delta.Thought
		}
	}
	return h, nil
}

func calls(answer []byte) (all []provider.Piece) {
	type message struct {
		Calls []struct {
			Index    int
			ID       string
			Function struct{ Name, Arguments string }
			Extra    json.RawMessage `json:"extra_content"` // Google's signatures
		} `json:"tool_calls"`
	}
	var a struct {
		Choices []struct{ Message, Delta message }
	}
	_ = json.Unmarshal(answer, &a) // members of other types belong to what is no call
	for i, choice := range a.Choices {
		for _, c := range choice.Message.Calls {
			all = append(all, provider.Piece{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments,
				Extra: c.Extra})
		}
		for _, c := range choice.Delta.Calls {
			all = append(all, provider.Piece{Call: strconv.Itoa(i) + " " + strconv.Itoa(c.Index), ID: c.ID,
				Name: c.Function.Name, Arguments: c.Function.Arguments, Extra: c.Extra})
		}
	}
	return all
}
