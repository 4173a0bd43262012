package tokens

import "strings"

const (
	o200k  = "o200k_base"
	cl100k = "cl100k_base"
	p50k   = "p50k_base"
	r50k   = "r50k_base"
)

const approximation = o200k

// A family is a set of models with one encoding: those named prefix, alone or followed by a separator. A prefix that
// ends in a dot matches every minor version.
type family struct{ prefix, encoding string }

// families returns the models with a public encoding. The first match counts.
func families() []family {
	return []family{
		{"gpt-5", o200k}, {"gpt-5.", o200k},
		{"gpt-4.5", o200k}, {"gpt-4.1", o200k}, {"gpt-4o", o200k}, {"chatgpt-4o", o200k},
		{"gpt-oss", o200k}, // o200k_harmony, which differs in special tokens only
		{"o1", o200k}, {"o3", o200k}, {"o4", o200k},
		{"codex", o200k},

		{"gpt-4", cl100k}, {"gpt-3.5", cl100k}, {"gpt-35", cl100k},
		{"davinci-002", cl100k}, {"babbage-002", cl100k},
		{"text-embedding-3", cl100k}, {"text-embedding-ada-002", cl100k},

		{"text-davinci-003", p50k}, {"text-davinci-002", p50k}, {"text-davinci-edit", p50k},
		{"code-davinci", p50k}, {"code-cushman", p50k}, {"davinci-codex", p50k}, {"cushman-codex", p50k},

		{"text-davinci-001", r50k}, {"text-curie-001", r50k}, {"text-babbage-001", r50k}, {"text-ada-001", r50k},
		{"davinci", r50k}, {"curie", r50k}, {"babbage", r50k}, {"ada", r50k},
		{"gpt2", r50k}, {"gpt-2", r50k},
	}
}

func encodingOf(model string) (encoding string, exact bool) {
	name := strings.ToLower(strings.TrimSpace(model))
	name = name[strings.LastIndexByte(name, '/')+1:] // openai/gpt-4o, as routers write it
	name = strings.TrimPrefix(name, "openai.")       // as Bedrock writes it
	name = strings.TrimPrefix(name, "ft:")           // ft:gpt-4o-mini:org::id, a fine-tuned model
	for _, f := range families() {
		rest, ok := strings.CutPrefix(name, f.prefix)
		if ok && (rest == "" || strings.HasSuffix(f.prefix, ".") || strings.IndexByte("-:@_", rest[0]) >= 0) {
			return f.encoding, true
		}
	}
	return approximation, false
}
