// Package tokens counts what a history costs in a model's context window, in tokens.
//
// It is for the host, which counts every entry once, when it enters, and maintains totals by addition and
// subtraction. Start at [For]. Then [Counter.Entry] counts one entry, [Counter.CountAll] a
// whole session, [Counter.Text] a text. Nothing is loaded before the first count and nothing is ever fetched from the
// network: the vocabularies are embedded in the program.
//
// How the files relate: encodings.go and models.go choose an encoding by the model's name; vocabulary.go loads it;
// counter.go cuts a text into windows at the places that boundary.go declares safe, and hands stretches without such
// a place to run.go. entry.go says what is counted of an entry, with media.go and embedded.go for pictures and
// documents. calibration.go and fit.go relate our counts to the provider's.
//
// # Exact and approximate
//
// OpenAI publishes its encodings, so counts for its models are exact. All other models (Claude, Gemini, DeepSeek,
// Qwen, Llama, …), and a model without a name, are approximated with o200k_base; [Counter.Exact] is then false.
// Expect Claude to need more tokens than counted here, for source code in particular, and leave room for that in the
// threshold. System prompts and tool schemas are not part of a history and so not part of any count. A [Calibration]
// learns both deviations from the usage that the provider reports. On recorded sessions the plain count was off by 11
// to 93 %, the calibrated one by at most 2.5 %.
//
// Special strings such as <|endoftext|> are counted as ordinary text, because in a history that is what they are.
//
// # Untrusted text
//
// Tool output can be anything. Splitting a text into pieces takes time proportional to its size, but merging one
// piece takes time quadratic in the size of the piece, and a letter repeated a million times is a single piece. An
// unbroken run of more than 1,024 bytes is therefore counted in steps (run.go). Unbroken means: a stretch without a
// place at which every encoding splits regardless of what follows, such as the end of a word (boundary.go). Prose,
// code, JSON, base64 and hexadecimal have such a place every few bytes and are counted exactly at any size. The steps
// may cost up to 0.25 % of a long run's count. That bound is measured, not proved: in about ten thousand random runs
// of letters, space, symbols, marks and ideographs the count was never off by a single token.
//
// # Entries
//
// The count of an entry is the sum of the following, each block on its own, so that the count of a history is the sum
// of the counts of its entries:
//
//	every entry      4, for the frame that a provider puts around it
//	text, code       the text, the code
//	thinking         the thought; no signature and no encrypted reasoning
//	tool call        the name and the parameters as JSON text
//	tool response    the result as a model reads it (a string itself, anything else its JSON text), and the error
//	media            an estimate by kind and size (see media.go), and the caption; never the base64 as text
//	unknown block    its JSON text; a base64 string in it by the estimate for media
//
// A picture or PDF inside a structured tool result is estimated as media too. Metadata, ids and unknown fields are
// never counted, because no model sees them.
package tokens
