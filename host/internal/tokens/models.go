package tokens

import "strings"

const (
	o200k  = "o200k_base"
	cl100k = "cl100k_base"
	p50k   = "p50k_base"
	r50k   = "r50k_base"
)

const approximation = o200k

// unpublished returns the encoding of the models that tiktoken-go's table lacks, or "".
func unpublished(model string) string {
	switch model {
	case "gpt-5", "chatgpt-4o", "o1", "o3", "o4", "codex",
		"gpt-oss": // o200k_harmony, which differs in special tokens only
		return o200k
	case "gpt-3.5", "gpt-35", "davinci-002", "babbage-002":
		return cl100k
	case "gpt-2":
		return r50k
	}
	if strings.HasPrefix(model, "gpt-5.") { // any minor version
		return o200k
	}
	return ""
}

// encodingOf looks for the longest beginning of the name, up to a separator, that is a model with a public encoding.
func encodingOf(model string) (encoding string, exact bool) {
	name := strings.ToLower(strings.TrimSpace(model))
	name = name[strings.LastIndexByte(name, '/')+1:] // openai/gpt-4o, as routers write it
	name = strings.TrimPrefix(name, "openai.")       // as Bedrock writes it
	name = strings.TrimPrefix(name, "ft:")           // ft:gpt-4o-mini:org::id, a fine-tuned model
	for end := len(name); end > 0; end = strings.LastIndexAny(name[:end], "-:@_") {
		for _, table := range []func(string) string{unpublished, published} {
			if encoding := table(name[:end]); encoding != "" {
				return encoding, true
			}
		}
	}
	return approximation, false
}
