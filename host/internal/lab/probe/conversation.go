package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/door/mcp"
	"github.com/thresh-dev/thresh/host/internal/llm"
	"github.com/thresh-dev/thresh/host/internal/provider"
)

// conversation is about one sheet: the model may search before it answers. What it does wrong is said to it. It ends:
// each call takes one of those that are left, and without any the model has one more request to answer.
type conversation struct {
	*asking
	sheet   *Task
	request llm.Request
	count   int // tokens of the request
	lookup  *lookup
	left    int // calls of the tool
	told    bool

	searched []searched
	shown    int // of searched, by what the model has read
}

// What the model reads in the place of an answer of the tool.
const (
	noneLeft = "no search is left: answer with what there is"
	tooMuch  = "not shown: the conversation is too long for it; answer with what there is"
	noText   = "Your answer had no text. Answer with the JSON object now."
)

// run returns the text of the answer.
func (c *conversation) run(ctx context.Context) (string, error) {
	for {
		r, err := c.generate(ctx, c.sheet, c.request, c.count)
		switch {
		case errors.Is(err, llm.ErrContextExceeded) && c.shorten():
			continue
		case err != nil:
			return "", err
		case len(r.Calls) > 0 && c.request.NoCalls:
			return "", fmt.Errorf("%w: it goes on to call tools, though it was told to answer", errUnusable)
		case len(r.Calls) > 0:
			c.shown = len(c.searched)
			results := make([]provider.ToolResult, len(r.Calls))
			for i, call := range r.Calls {
				results[i] = c.call(ctx, call)
				c.count += c.model.Count(call.Arguments) + c.model.Count(results[i].Text)
			}
			if err := ctx.Err(); err != nil { // which the tool may have met
				return "", err
			}
			c.request.Messages = append(c.request.Messages, r.Message(), llm.Message{Role: llm.User, Results: results})
		case len(c.request.Tools) > 0 && strings.TrimSpace(r.Text) == "" && !c.told:
			c.told = true
			c.request.Messages = append(c.request.Messages, llm.Message{Role: llm.User, Text: noText})
		default:
			return r.Text, nil
		}
	}
}

// call answers a call of the model.
func (c *conversation) call(ctx context.Context, call provider.ToolCall) provider.ToolResult {
	if c.left == 0 {
		c.request.NoCalls = true
		return provider.ToolResult{ID: call.ID, Text: noneLeft, Failed: true}
	}
	c.left--
	if call.Name != mcp.Tool {
		return provider.ToolResult{ID: call.ID, Text: fmt.Sprintf("unknown tool %.100q: there is only %s", call.Name, mcp.Tool),
			Failed: true}
	}
	words, passages := "", 0
	tool := mcp.Server{Recall: func(ctx context.Context, a mcp.Asked) (mcp.Answer, error) {
		answer, err := c.lookup.recall(ctx, a)
		words, passages = a.Query+a.ID, len(answer.Parts) // it has one of them
		return answer, err
	}}
	text, failed := tool.Call(ctx, json.RawMessage(call.Arguments), nil)
	if !failed {
		s := c.lookup.searched(words, passages, text)
		c.searched = append(c.searched, s)
		c.found(1, s.Tokens)
	}
	return provider.ToolResult{ID: call.ID, Text: text, Failed: failed}
}

// shorten takes what the last calls brought out of a request that does not fit, and allows no more. It reports whether
// there was any.
func (c *conversation) shorten() bool {
	last := &c.request.Messages[len(c.request.Messages)-1]
	if len(last.Results) == 0 || c.request.NoCalls {
		return false
	}
	c.request.NoCalls = true
	for i := range last.Results {
		c.count -= c.model.Count(last.Results[i].Text)
		last.Results[i].Text, last.Results[i].Failed = tooMuch, true
	}
	for i := c.shown; i < len(c.searched); i++ {
		c.found(0, -c.searched[i].Tokens)
		c.searched[i].Tokens = 0
	}
	return true
}

// found adds to what all searches brought.
func (a *asking) found(searches, tokens int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked.Searches += searches
	a.asked.FoundTokens += tokens
}
