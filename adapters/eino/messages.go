package eino

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/thresh-dev/thresh/adapters/internal/fit"
	"github.com/thresh-dev/thresh/sdk/content"
)

var (
	speakers = map[schema.RoleType]content.Speaker{
		schema.User: content.Human, schema.System: content.Human, schema.Assistant: content.AI, schema.Tool: content.Tool,
	}
	roles = map[content.Speaker]schema.RoleType{
		content.Human: schema.User, content.AI: schema.Assistant, content.Tool: schema.Tool,
	}
)

// entry returns what a message says. A block that is one of several parts or calls says which, in the field "part".
func entry(all []*schema.Message, at int) content.Content {
	m := all[at]
	c := content.Content{Speaker: speakers[m.Role], Blocks: parts(m)}
	if m.Role == schema.System { // in the middle
		c.Metadata = json.RawMessage(`{"pinned":true}`)
	}
	if m.Content != "" && len(c.Blocks) == 0 {
		c.Blocks = append(c.Blocks, content.Text{Text: m.Content})
	}
	if m.ReasoningContent != "" {
		c.Blocks = slices.Insert(c.Blocks, 0, content.Block(content.Thinking{Thought: m.ReasoningContent}))
	}
	if m.Role == schema.Tool {
		response := content.ToolResponse{CallID: m.ToolCallID, ToolName: m.ToolName, Result: content.String(text(c.Blocks))}
		media := slices.DeleteFunc(c.Blocks, func(b content.Block) bool { return b.Kind() == content.KindText })
		c.Blocks = slices.Insert(media, 0, content.Block(response))
	}
	for i, call := range m.ToolCalls {
		c.Blocks = append(c.Blocks, content.ToolCall{ID: call.ID, Name: call.Function.Name, Parameters: parameters(call),
			Extra: fit.Part(i)})
	}
	return c
}

// text is the texts of a message's parts.
func text(blocks []content.Block) string {
	var texts []string
	for _, b := range blocks {
		if t, ok := b.(content.Text); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func parameters(call schema.ToolCall) json.RawMessage {
	switch arguments := call.Function.Arguments; {
	case arguments == "":
		return nil
	case json.Valid([]byte(arguments)):
		return json.RawMessage(arguments)
	default:
		return content.String(arguments)
	}
}

// messages is the opposite of entry. What else the message had stays with it.
func messages(was *schema.Message, now content.Content) []*schema.Message {
	if was == nil {
		was = &schema.Message{}
	}
	m := *was
	if speakers[m.Role] != now.Speaker {
		m.Role = roles[now.Speaker]
	}
	m.Content, m.ReasoningContent, m.ToolCalls = "", "", nil
	var responses []*schema.Message
	for _, b := range now.Blocks {
		switch b := b.(type) {
		case content.Text:
			if len(parts(was)) == 0 {
				m.Content += b.Text
			}
		case content.Thinking:
			m.ReasoningContent += b.Thought
		case content.ToolCall:
			call := schema.ToolCall{ID: b.ID, Type: "function", Function: schema.FunctionCall{Name: b.Name}}
			if i, ok := fit.PartOf(b.Extra); ok && i < len(was.ToolCalls) {
				call = was.ToolCalls[i]
			}
			if string(parameters(call)) != string(b.Parameters) {
				call.Function.Arguments = string(b.Parameters)
			}
			m.ToolCalls = append(m.ToolCalls, call)
		case content.ToolResponse:
			r := m
			r.Content, r.ToolCallID, r.ToolName = cmp.Or(b.Error, b.ResultText()), b.CallID, b.ToolName
			if len(was.UserInputMultiContent) > 0 {
				said := schema.MessageInputPart{Type: schema.ChatMessagePartTypeText, Text: r.Content}
				media := kept(was.UserInputMultiContent, now.Blocks, inputPart)
				r.Content, r.UserInputMultiContent = "", slices.Insert(media, 0, said)
			}
			responses = append(responses, &r)
		}
	}
	if responses != nil {
		return responses
	}
	switch {
	case len(was.UserInputMultiContent) > 0:
		m.UserInputMultiContent = kept(was.UserInputMultiContent, now.Blocks, inputPart)
	case len(was.AssistantGenMultiContent) > 0:
		m.AssistantGenMultiContent = kept(was.AssistantGenMultiContent, now.Blocks,
			func(p *schema.MessageOutputPart) (*schema.ChatMessagePartType, *string) { return &p.Type, &p.Text })
	default:
		m.MultiContent = kept(was.MultiContent, now.Blocks,
			func(p *schema.ChatMessagePart) (*schema.ChatMessagePartType, *string) { return &p.Type, &p.Text })
	}
	return []*schema.Message{&m}
}

func inputPart(p *schema.MessageInputPart) (*schema.ChatMessagePartType, *string) {
	return &p.Type, &p.Text
}

// kept returns the parts that blocks stand for. A text that stands for none is a part of its own.
func kept[P any](was []P, blocks []content.Block, fields func(*P) (*schema.ChatMessagePartType, *string)) (parts []P) {
	if len(was) == 0 {
		return nil
	}
	for _, b := range blocks {
		var p P
		switch b := b.(type) {
		case content.Text:
			if i, ok := fit.PartOf(b.Extra); ok && i < len(was) {
				p = was[i]
			}
			if kind, _ := fields(&p); *kind != schema.ChatMessagePartTypeText {
				p = *new(P) // a text stands where a picture was
			}
			kind, text := fields(&p)
			*kind, *text = schema.ChatMessagePartTypeText, b.Text
		case content.Media:
			i, ok := fit.PartOf(b.Extra)
			if !ok || i >= len(was) {
				continue
			}
			p = was[i]
		default:
			continue
		}
		parts = append(parts, p)
	}
	return parts
}

// parts returns the blocks of a message that has several parts; nil if it has only Content.
func parts(m *schema.Message) []content.Block {
	switch {
	case len(m.UserInputMultiContent) > 0:
		return blocks(m.UserInputMultiContent)
	case len(m.AssistantGenMultiContent) > 0:
		return blocks(m.AssistantGenMultiContent)
	default:
		return blocks(m.MultiContent) //nolint:staticcheck // many programs still use it
	}
}

// blocks reads the JSON of parts, which is nearly the same for each of their types.
func blocks[P any](parts []P) (blocks []content.Block) {
	type media struct {
		URL      string `json:"url"`
		Data     string `json:"base64data"`
		MimeType string `json:"mime_type"`
		Name     string `json:"name"`
	}
	for i, p := range parts {
		var fields struct {
			Text     string `json:"text"`
			Image    *media `json:"image"`
			Audio    *media `json:"audio"`
			Video    *media `json:"video"`
			File     *media `json:"file"`
			ImageURL *media `json:"image_url"`
			AudioURL *media `json:"audio_url"`
			VideoURL *media `json:"video_url"`
			FileURL  *media `json:"file_url"`
		}
		if raw, err := json.Marshal(p); err != nil || json.Unmarshal(raw, &fields) != nil {
			fields.Text = fmt.Sprintf("%+v", p) // to be counted
		}
		m := cmp.Or(fields.Image, fields.Audio, fields.Video, fields.File, fields.ImageURL, fields.AudioURL,
			fields.VideoURL, fields.FileURL)
		switch {
		case m == nil:
			blocks = append(blocks, content.Text{Text: fields.Text, Extra: fit.Part(i)})
		case m.Data != "":
			blocks = append(blocks, content.Media{MimeType: m.MimeType, Data: m.Data, Encoding: "base64", Filename: m.Name,
				Extra: fit.Part(i)})
		default:
			blocks = append(blocks, content.Media{MimeType: m.MimeType, Data: m.URL, Encoding: "url", Filename: m.Name,
				Extra: fit.Part(i)})
		}
	}
	return blocks
}
