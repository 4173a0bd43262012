package tokens

import (
	"strings"

	tiktoken "github.com/pkoukk/tiktoken-go"
)

const (
	o200k  = tiktoken.MODEL_O200K_BASE
	cl100k = tiktoken.MODEL_CL100K_BASE
)

const approximation = o200k

// newer returns the encoding of a model that tiktoken-go's table lacks, or "".
func newer(model string) string {
	switch model {
	case "gpt-5", "chatgpt-4o", "o1", "o3", "o4", "codex",
		"gpt-oss": // o200k_harmony, which differs in special tokens only
		return o200k
	case "gpt-3.5", "gpt-35", "davinci-002", "babbage-002":
		return cl100k
	}
	if strings.HasPrefix(model, "gpt-5.") { // any minor version
		return o200k
	}
	return ""
}

// encodingOf looks for the longest beginning of the name, up to a separator, that is a model with a public encoding.
// Models from before cl100k (davinci, gpt2, …) are counted approximately with it, or with the oldest encoding that the
// program was built with.
func encodingOf(model string) (encoding string, exact bool) {
	name := strings.ToLower(strings.TrimSpace(model))
	name = name[strings.LastIndexByte(name, '/')+1:] // openai/gpt-4o, as routers write it
	name = strings.TrimPrefix(name, "openai.")       // as Bedrock writes it
	name = strings.TrimPrefix(name, "ft:")           // ft:gpt-4o-mini:org::id, a fine-tuned model
	for end := len(name); end > 0; end = strings.LastIndexAny(name[:end], "-:@_") {
		encoding := newer(name[:end])
		if encoding == "" {
			encoding = tiktoken.MODEL_TO_ENCODING[name[:end]]
		}
		switch {
		case vocabularies[encoding] != nil:
			return encoding, true
		case encoding != "":
			known := Encodings()
			return known[len(known)-1], false
		}
	}
	return approximation, false
}
