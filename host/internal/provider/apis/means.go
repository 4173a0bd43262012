package apis

import (
	"encoding/json"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Means returns the kind of block that a provider's name for an item or a part probably means; "" if it is unknown. It is
// for hints: an agent may have passed on a provider's message unchanged.
func Means(kind string) string {
	switch kind { // the Vercel AI SDK's
	case "tool-call":
		return content.KindToolCall
	case "tool-result":
		return content.KindToolResponse
	}
	for _, f := range All() {
		for _, rows := range [][]provider.Kind{f.Parts, f.Items, {f.Call}} {
			for i := range rows {
				if k := &rows[i]; k.Type == kind && kind != "" && kind != content.KindText {
					return means(k)
				}
			}
		}
	}
	return ""
}

func means(k *provider.Kind) string {
	switch k.Is {
	case provider.Text:
		return content.KindText
	case provider.Call:
		return content.KindToolCall
	case provider.Result:
		return content.KindToolResponse
	case provider.Media:
		return content.KindMedia
	case provider.Bound:
		return content.KindThinking
	case provider.Own:
		for _, end := range []string{"result", "output", "response"} {
			if strings.HasSuffix(strings.ToLower(k.Type), end) {
				return content.KindToolResponse
			}
		}
		return content.KindToolCall
	}
	return ""
}

// callIDs are the fields in which providers name the call of a block, other than "id". "id" is read last and only for
// known kinds, as blocks of any kind may have an id of their own.
var callIDs = []string{"callId", "call_id", "toolCallId", "tool_call_id", "tool_use_id"}

// OpaqueCall reports whether a block of unknown kind looks like a tool call or a response, and returns the call's id;
// "" if it carries none. The host warns of such a block, because its pairing cannot be checked.
func OpaqueCall(b content.Opaque) (id string, ok bool) {
	var fields map[string]any
	if json.Unmarshal(b.JSON, &fields) != nil {
		return "", false
	}
	for _, name := range callIDs {
		if id, _ := fields[name].(string); id != "" {
			return id, true
		}
	}
	if known := Means(b.Kind()); known == content.KindToolCall || known == content.KindToolResponse {
		id, _ := fields["id"].(string)
		return id, true
	}
	return "", false
}

// Sealed reports whether a block is thinking that some models take back only behind exactly what it was made behind: one
// with the provider's proof, or one that the provider has encrypted.
func Sealed(b content.Block) bool {
	switch b := b.(type) {
	case content.Thinking:
		return b.Signature != ""
	case content.Opaque:
		kind := b.Kind()
		for _, f := range All() {
			if k := f.Part(kind); k != nil && k.Sealed {
				return true
			}
		}
	}
	return false
}
