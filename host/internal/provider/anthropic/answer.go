package anthropic

import (
	"encoding/json"
	"strconv"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/internal/lazyregexp"
)

// counts are in a whole answer, in the message at the beginning of a stream, and once more at its end.
var counts = &provider.Counts{
	At: []string{"usage", "message.usage"}, Prompt: []string{"input_tokens"}, Output: []string{"output_tokens"},
	Read: []string{"cache_read_input_tokens"}, Write: []string{"cache_creation_input_tokens"},
	Hour: []string{"cache_creation.ephemeral_1h_input_tokens"}, Apart: true,
}

// tooLongWords are how the API says that a prompt is too long: the numbers are in the message, and nowhere else.
var tooLongWords = lazyregexp.New(`^(?:prompt is too long: |input length and .max_tokens. exceed context limit: )` +
	`(?P<tokens>\d+)(?: tokens| \+ \d+) > (?P<limit>\d+)`)

// tooLong reads a refusal. A 413 (request_too_large) is about bytes, and says nothing of tokens.
func tooLong(status int, answer []byte) (r provider.Refusal, ok bool) {
	f, found := provider.ReadFault(answer)
	if status != 400 || !found || f.Type != "" && f.Type != "invalid_request_error" {
		return r, false
	}
	if r, ok = f.Numbers(tooLongWords()); ok {
		return r, true
	}
	return provider.Refusal{}, shortTooLong().MatchString(f.Message)
}

// shortTooLong are the words without numbers: those of Bedrock and of a prompt that was not counted.
var shortTooLong = lazyregexp.New(`^(?:[Ii]nput is too long|prompt is too long)`)

// unsealedWords begin the refusal of thinking that stands behind something else than it was made behind.
var unsealedWords = lazyregexp.New("^(?:messages[.][0-9]+[.]content[.][0-9]+: )?" +
	"Invalid `[a-z]+` in `[a-z_]+` block[.] The block is bound to a different conversation")

func unsealed(status int, answer []byte) bool {
	f, found := provider.ReadFault(answer)
	return status == 400 && found && f.Type == "invalid_request_error" && unsealedWords().MatchString(f.Message)
}

// request is the part of a request that is used for summaries and probes. The API requires max_tokens.
type request struct {
	Model      string    `json:"model"`
	MaxTokens  int       `json:"max_tokens"`
	System     []block   `json:"system,omitempty"`
	Tools      []tool    `json:"tools,omitempty"`
	ToolChoice *choice   `json:"tool_choice,omitempty"`
	Messages   []message `json:"messages"`
	Stream     bool      `json:"stream"`
}

type tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Schema      any    `json:"input_schema"`
}

type choice struct {
	Type string `json:"type"`
}

type message struct {
	Role    string `json:"role"`
	Content []any  `json:"content"`
}

type block struct {
	Type  string `json:"type"`
	Text  string `json:"text"`
	Cache *cache `json:"cache_control,omitempty"`
}

type useBlock struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type resultBlock struct {
	Type    string `json:"type"`
	ID      string `json:"tool_use_id"`
	Content string `json:"content"`
	Failed  bool   `json:"is_error,omitempty"`
	Cache   *cache `json:"cache_control,omitempty"`
}

type cache struct {
	Type string `json:"type"`
}

// ask marks the end of a prompt with tools for the cache: what follows a call is read from there.
func ask(q provider.Question) any {
	r := request{Model: q.Model, MaxTokens: q.MaxOutput, Stream: true, Messages: []message{}} // null is refused
	if q.System != "" {
		r.System = []block{{Type: "text", Text: q.System}}
	}
	var mark *cache
	for _, t := range q.Tools {
		r.Tools = append(r.Tools, tool{t.Name, t.Description, t.Schema})
		mark = &cache{"ephemeral"}
	}
	if q.NoCalls {
		r.ToolChoice = &choice{"none"}
	}
	for i, t := range q.Turns {
		m := message{Role: t.Role}
		markAt := func(last bool) *cache {
			if last && i == len(q.Turns)-1 {
				return mark
			}
			return nil
		}
		for j, x := range t.Results {
			last := j == len(t.Results)-1 && len(t.Texts) == 0
			m.Content = append(m.Content, resultBlock{"tool_result", x.ID, x.Text, x.Failed, markAt(last)})
		}
		for j, text := range t.Texts {
			m.Content = append(m.Content, block{"text", text, markAt(j == len(t.Texts)-1)})
		}
		for _, c := range t.Calls {
			m.Content = append(m.Content, useBlock{"tool_use", c.ID, c.Name, json.RawMessage(c.Arguments)})
		}
		r.Messages = append(r.Messages, m)
	}
	return r
}

// hear reads an event, except thinking and other blocks.
func hear(data []byte) (h provider.Heard, err error) {
	var e struct {
		Type    string `json:"type"`
		Message struct {
			Model string `json:"model"`
		} `json:"message"`
		ContentBlock block `json:"content_block"`
		Delta        struct {
			Type       string `json:"type"`
			Text       string `json:"text"`
			StopReason string `json:"stop_reason"`
		} `json:"delta"`
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return h, err
	}
	h.Usage, _ = counts.Usage(data)
	switch e.Type {
	case "message_start":
		h.Model = e.Message.Model
	case "content_block_start":
		if e.ContentBlock.Type == "text" {
			h.Text = e.ContentBlock.Text
		}
	case "content_block_delta":
		if e.Delta.Type == "text_delta" {
			h.Text = e.Delta.Text
		}
	case "message_delta":
		h.Finish = e.Delta.StopReason
	}
	return h, nil
}

// called is a block of an answer that may be a call.
type called struct {
	Type, ID, Name string
	Input          json.RawMessage
}

func (c called) piece() provider.Piece {
	p := provider.Piece{ID: c.ID, Name: c.Name}
	if string(c.Input) != "{}" { // as in a stream, where the arguments follow
		p.Arguments = string(c.Input)
	}
	return p
}

func calls(answer []byte) (all []provider.Piece) {
	var a struct {
		Content []called
		Index   int
		Block   called `json:"content_block"`
		Delta   struct {
			PartialJSON string `json:"partial_json"`
		}
	}
	_ = json.Unmarshal(answer, &a) // members of other types belong to what is no call
	for _, c := range a.Content {
		if c.Type == "tool_use" {
			all = append(all, c.piece())
		}
	}
	p := provider.Piece{Arguments: a.Delta.PartialJSON}
	if a.Block.Type == "tool_use" {
		p = a.Block.piece()
	}
	if p.Name != "" || p.Arguments != "" {
		p.Call = strconv.Itoa(a.Index)
		all = append(all, p)
	}
	return all
}
