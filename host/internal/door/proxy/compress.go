package proxy

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/access"
	claude "github.com/thresh-dev/thresh/host/internal/provider/anthropic"
	"github.com/thresh-dev/thresh/host/internal/provider/body"
	"github.com/thresh-dev/thresh/host/internal/provider/chat"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/host/internal/provider/responses"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Messages that someone else sends. A caller keeps nothing between two calls: its conversation is found by its content,
// as a client's of the proxy is, so that what was sent before is sent again.

// alone is what an exchange has where there is no client's request, only the messages of one.
type alone struct {
	identity identity
	set      map[string]any // settings of its own
	recall   bool           // its model can ask for a removed result
	// before are the tokens of the messages as they came, and removed what is not sent of them.
	before  int
	removed []api.Removed
	err     error // why no turn was run
}

// compressName begins the ids of sessions of messages that came alone.
const compressName = "compress-"

// forms are the forms of messages.
var forms = map[api.Form]*messages.API{
	api.Anthropic: &claude.Messages, api.OpenAIChat: &chat.Messages, api.OpenAIResponses: &responses.Messages,
}

// Compress makes messages small by a strategy that calls no model. Nothing is sent anywhere, and the answer can be. It
// needs [Options.Recall]. Another owner's messages are another conversation, whatever they say.
func (s *Server) Compress(ctx context.Context, from access.Grant, r api.CompressMessages) (
	a api.CompressedMessages, err error) {
	size := 0
	for _, m := range r.Messages {
		size += len(m) + 1
	}
	switch {
	case len(r.Messages) == 0:
		return a, api.Refuse("messages", `"messages" must have at least one message`)
	case size > maxBody:
		return a, api.Refuse("messages", `"messages" have %d bytes, more than %d`, size, maxBody)
	case r.ContextLimit < 0:
		return a, api.Refuse("contextLimit", `"contextLimit" must be above 0`)
	}
	if err := r.Format.Check(); err != nil {
		return a, err
	}
	a.Format = cmp.Or(r.Format, recognise(r.Messages))
	form := forms[a.Format]
	x := &exchange{server: s, grant: from, route: route{task: turn, api: form.Form.API}, alone: &alone{recall: r.Recall == nil || *r.Recall}}
	if x.profile, err = s.profile(""); err != nil {
		return a, err
	}
	strategy := cmp.Or(r.Strategy, x.profile.config.Settings().Compression.Strategy)
	switch calls, err := s.options.Host.CallsModel(ctx, strategy); {
	case err != nil:
		return a, err
	case calls:
		return a, api.Refuse("strategy", "%q calls a model, which takes a session: "+
			`name another "strategy", such as distill or high-density`, strategy)
	}
	wait, stop := context.WithTimeout(ctx, s.memoryWait)
	defer stop()
	// They came as messages, are a body, have texts, and become a body and messages again.
	takes := min(int64(size)*copies, s.mostReading)
	if err := s.reading.Acquire(wait, takes); err != nil {
		return a, cmp.Or(ctx.Err(), busy())
	}
	defer s.reading.Release(takes)
	head := []byte(`{"` + form.Form.List + `":`)
	raw := slices.Concat(head, array(r.Messages), []byte("}"))
	var room room
	defer s.working.leave(&room)
	req, err := body.IndexWithin(form.Form.API, raw, func(values int) error {
		return s.working.enter(wait, &room, values)
	})
	switch {
	case errors.Is(err, errNoRoom):
		return a, cmp.Or(ctx.Err(), busy())
	case errors.Is(err, body.ErrValues):
		return a, api.Refuse("messages", `"messages" have %v`, err)
	case err != nil:
		return a, malformed(form, r.Messages, err)
	}
	dropped := len(r.Messages) - len(req.Items)
	if item, is := req.Unpaired(); is {
		return a, api.Refuse(api.Path("messages", dropped+item, ""),
			"message %d has a tool result that answers no call before it", dropped+item)
	}
	req.Model = r.Model
	x.model(req, "")
	x.alone.identify(x, req, strategy, r.ContextLimit)
	request := (&http.Request{Header: http.Header{}}).WithContext(ctx)
	out := raw
	switch large := req.Reason == body.Compaction && req.Editable() && !s.fits(request, x, req); {
	case req.Reason != "" && !large:
		a.Unchanged = string(req.Reason)
		if x.alone.before, err = s.tokens(ctx, req); err != nil {
			return a, err
		}
		x.size.sent = x.alone.before
	default:
		if out, err = s.turn(request, x, req); err != nil {
			return a, err
		}
		if x.alone.err != nil {
			return a, x.alone.err
		}
	}
	a.TokensBefore, a.TokensAfter, a.Removed = x.alone.before, x.size.sent, []api.Removed{}
	for _, part := range x.alone.removed {
		part.Message += dropped
		a.Removed = append(a.Removed, part)
	}
	elements, _ := ordered.Elements(out[len(head) : len(out)-1])
	for _, e := range elements {
		a.Messages = append(a.Messages, e)
	}
	return a, nil
}

// Alone returns what makes the messages of a caller small.
func (s *Server) Alone(from access.Grant) api.Alone { return callersOwn{s, from} }

type callersOwn struct {
	server *Server
	from   access.Grant
}

func (c callersOwn) Compress(ctx context.Context, r api.CompressMessages) (api.CompressedMessages, error) {
	return c.server.Compress(ctx, c.from, r)
}

func (c callersOwn) Retrieve(ctx context.Context, r api.RetrieveRequest) (api.RetrieveAnswer, error) {
	return c.server.Retrieve(ctx, c.from, r)
}

// array writes messages as a list.
func array(all []json.RawMessage) []byte {
	parts := make([][]byte, len(all))
	for i, m := range all {
		parts[i] = m
	}
	return slices.Concat([]byte("["), bytes.Join(parts, []byte(",")), []byte("]"))
}

// identify names the conversation by how it begins and by what it is made small with.
func (a *alone) identify(x *exchange, r *body.Request, strategy string, limit int) {
	first := r.Chain()[r.First()]
	sum := sha256.Sum256(fmt.Appendf(first[:], "%s %d", strategy, limit))
	name := fmt.Sprintf("%s%012d", compressName, binary.BigEndian.Uint64(sum[:])%1e12)
	a.identity = identity{owner: x.grant.Name, scope: x.grant.Name, key: x.grant.Name + "\x00" + name, name: name,
		shared: true, alone: true}
	a.set = map[string]any{"compression.strategy": strategy}
	if limit > 0 {
		a.set["model.contextLimit"] = limit
	}
}

// recognise returns the form of messages. What all forms share is OpenAI's, which most servers have.
func recognise(all []json.RawMessage) api.Form {
	for _, m := range all {
		o := ordered.Of(m)
		switch {
		case o.Text("type") != "":
			return api.OpenAIResponses
		case o.Raw("tool_calls") != nil || o.Text("role") == chat.Form.ResultRole:
			return api.OpenAIChat
		}
		parts, _ := ordered.Elements(o.Raw("content"))
		for _, p := range parts {
			switch kind := rawjson.FieldText(p, "type"); {
			case kind == "text":
			case claude.Form.Part(kind) != nil:
				return api.Anthropic
			case chat.Form.Part(kind) == nil && responses.Form.Part(kind) != nil:
				return api.OpenAIResponses
			}
		}
	}
	return api.OpenAIChat
}

// malformed says which message the form does not have.
func malformed(form *messages.API, all []json.RawMessage, err error) error {
	_, parsed := messages.Parse(form, messages.Before{}, all)
	if wrong, ok := errors.AsType[*messages.Error](parsed); ok {
		return api.Refuse(api.Path("messages", wrong.Message, wrong.Path()), "%v", wrong)
	}
	return api.Refuse("messages", "%v", err)
}

// upstream is the address of the provider; "" if there is none.
func (x *exchange) upstream() string {
	if x.alone != nil {
		return ""
	}
	return x.profile.upstreams.of(x.route.provider).String()
}

// list notes what is not sent of messages that came alone.
func (b *branch) list(p *body.Plan) {
	b.thread.mu.Lock()
	defer b.thread.mu.Unlock()
	b.removed = nil
	p.Removed(func(at body.Ref, was content.Block) {
		gone := api.Removed{ID: b.known(at, was), Message: at.Item, Kind: was.Kind()}
		switch was := was.(type) {
		case content.ToolCall:
			gone.Tool = was.Name
		case content.ToolResponse:
			gone.Tool = was.ToolName
		}
		b.removed = append(b.removed, gone)
	})
}

// noPart is the error for an id that nothing of the owner has.
func noPart(id string) error {
	return &api.Error{Kind: api.KindEntry, Status: http.StatusNotFound,
		Message: id + ": nothing that was removed has this id, or it is no longer kept"}
}

// Retrieve gives a removed part back: of a conversation in memory, or of one in the store.
func (s *Server) Retrieve(ctx context.Context, from access.Grant, r api.RetrieveRequest) (
	a api.RetrieveAnswer, err error) {
	if len(r.ID) != 24 || len(bytes.Trim([]byte(r.ID), "0123456789")) > 0 {
		return a, noPart(fmt.Sprintf("%.40q", r.ID))
	}
	of := store.Key{Owner: from.Name, ID: compressName + r.ID[:12]}
	found, err := s.part(ctx, of, r.ID, true, func(i identity) bool { return i.name == of.ID })
	if err != nil {
		return a, err
	}
	if found == nil {
		return a, noPart(r.ID)
	}
	a = api.RetrieveAnswer{ID: r.ID}
	switch b := found.Block.(type) {
	case content.Text:
		a.Content = b.Text
	case content.ToolCall:
		a.Tool, a.Content = b.Name, string(b.Parameters)
	case content.ToolResponse:
		a.Tool, a.Content = b.ToolName, b.ResultText()
	default:
		return a, noPart(r.ID)
	}
	a.Kind = found.Kind()
	return a, nil
}
