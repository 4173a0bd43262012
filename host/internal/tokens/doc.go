// Package tokens counts what a history costs in a model's context window, in tokens.
//
// It is for the host, which counts every entry once, when it enters, and maintains totals by addition and
// subtraction. Start at [For]. Then [Counter.Entry] counts one entry, [Counter.CountAll] a
// whole session, [Counter.Text] a text. Nothing is loaded before the first count and nothing is ever fetched from the
// network: the vocabularies are embedded in the program.
//
// How the files relate: encodings.go and models.go choose an encoding by the model's name; vocabulary.go loads it;
// counter.go counts a text, which split.go cuts into pieces by the classes of characters in classes.go, and package bpe
// counts each piece. entry.go says what is counted of an entry, with media.go and embedded.go for pictures and
// documents; all.go counts many. reference.go counts with tiktoken-go instead. calibration.go and fit.go relate our
// counts to the provider's.
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
// Tool output can be anything: a letter repeated a million times, a megabyte of base64, bytes that are no text.
// Counting is exact, and takes time in proportion to the size, for all of it. tiktoken-go, whose counts ours equal,
// takes quadratic time where a text has no place to split at; so it is used as the reference only (see
// [Counter.Reference]).
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
