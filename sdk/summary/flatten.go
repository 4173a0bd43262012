package summary

import (
	"cmp"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
)

// Flatten returns an entry in the form in which a model without tools can be sent it: text, calls and results as text,
// attachments as a placeholder such as "[Attached image: plan.png]". Providers refuse tool blocks without tool schemas.
// Thinking is left out: it is not part of the conversation. The speaker is human or ai. ok is false if nothing is left.
func Flatten(entry sdk.Content) (flat sdk.Content, ok bool) {
	text, _ := flatten(entry, nil)
	if text == "" {
		return sdk.Content{}, false
	}
	speaker := sdk.Human
	if entry.Speaker == sdk.AI {
		speaker = sdk.AI
	}
	return sdk.Content{Speaker: speaker, Blocks: []sdk.Block{sdk.Text{Text: text}}}, true
}

// flatten returns an entry as text; "" if it says nothing. line, if not nil, returns the replacement for the result at
// a position; "" keeps the result. dropped reports whether something was left out that counts in the history, which
// makes the entry's own token count useless for the text.
func flatten(entry sdk.Content, line func(block int, r sdk.ToolResponse) string) (text string, dropped bool) {
	var b strings.Builder
	for j, block := range entry.Blocks {
		part := ""
		switch block := block.(type) {
		case sdk.Text:
			part = block.Text
		case sdk.Code:
			part = "```" + clip(block.Language, nameLength) + "\n" + strings.TrimSuffix(block.Code, "\n") + "\n```"
		case sdk.ToolCall:
			part = "[calls " + lineName(block.Name) + "] " + string(block.Parameters)
		case sdk.ToolResponse:
			short := ""
			if line != nil {
				short = line(j, block)
			}
			part = flatResponse(block, short)
		case sdk.Media:
			part, dropped = placeholder(block), true
		case sdk.Thinking:
			dropped = true
		case sdk.Opaque:
			part, dropped = "[Part of unknown kind: "+cmp.Or(clip(block.Kind(), nameLength), "unnamed")+"]", true
		}
		if strings.TrimSpace(part) == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(part)
	}
	return strings.ToValidUTF8(b.String(), "\ufffd"), dropped
}

// flatResponse returns a tool response as text. A line other than "" replaces the result.
func flatResponse(r sdk.ToolResponse, line string) string {
	var b strings.Builder
	b.WriteString("[result of " + lineName(r.ToolName) + "]")
	if r.Error != "" {
		b.WriteString("\nerror: " + r.Error)
	}
	if line == "" {
		line = r.ResultText()
	}
	if line != "" {
		b.WriteString("\n" + line)
	}
	return b.String()
}

// placeholder describes an attachment without any of its bytes. URLs are left out too: they may carry an access key.
func placeholder(m sdk.Media) string {
	kind, _, _ := strings.Cut(m.MimeType, "/")
	switch {
	case m.MimeType == "application/pdf":
		kind = "PDF"
	case kind != "image" && kind != "audio" && kind != "video":
		kind = "file"
	}
	name := cmp.Or(clip(m.Filename, keyLength), clip(m.Caption, keyLength), clip(m.MimeType, keyLength), "unnamed")
	return "[Attached " + kind + ": " + name + "]"
}

// said returns what a person said in an entry: every text unchanged, attachments as placeholders if media is set. words
// is false if there is no text at all, as in an entry with nothing but an image.
func said(entry sdk.Content, media bool) (text string, words bool) {
	var parts []string
	for _, block := range entry.Blocks {
		switch block := block.(type) {
		case sdk.Text:
			if strings.TrimSpace(block.Text) != "" {
				parts, words = append(parts, block.Text), true
			}
		case sdk.Code:
			if strings.TrimSpace(block.Code) != "" {
				parts, words = append(parts, "```"+block.Language+"\n"+block.Code+"\n```"), true
			}
		case sdk.Media:
			if media {
				parts = append(parts, placeholder(block))
			}
		}
	}
	return strings.Join(parts, "\n"), words
}
