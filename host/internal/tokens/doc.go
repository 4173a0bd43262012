// Package tokens counts what a history costs in a model's context window, in tokens.
//
// It is for the host, which counts every entry once, when it is added, and maintains totals by addition and
// subtraction. Start at [For]: [Counter.Entry] counts one entry, [Counter.CountAll] a session, [Counter.Text] a text.
// The vocabularies are embedded in the program, and loaded at the first count.
//
// encodings.go and models.go choose an encoding by the model's name, from tiktoken-go's table; vocabulary.go loads it;
// counter.go counts a text, which split.go cuts into pieces by the classes of characters in classes.go, and package bpe
// counts each piece. library.go counts in encodings of which the program has no vocabulary, with tiktoken-go.
// entry.go says what of an entry is counted, with media.go and embedded.go for pictures and documents; all.go counts
// many. calibration.go and fit.go relate our counts to the provider's. compile takes the vocabularies from tiktoken-go's
// loader.
//
// # Exact and approximate
//
// OpenAI publishes its encodings, so counts for its models are exact, but for those from before GPT-3.5 (davinci, gpt2,
// …), which are approximated with cl100k_base. All other models (Claude, Gemini, DeepSeek, Qwen, Llama, …), and a model
// without a name, are approximated with o200k_base. Claude needs more tokens than counted, for
// source code in particular. System prompts and tool schemas are not part of a history, so not counted. A [Calibration]
// learns both deviations from the provider's reports. On recorded sessions the plain count was off by 11 to 93 %, the
// calibrated one by at most 2.5 %.
//
// Special strings such as <|endoftext|> count as ordinary text, which they are in a history.
//
// # Untrusted text
//
// Tool output can be anything: a letter repeated a million times, a megabyte of base64, bytes that are not text. All of
// it is counted exactly, in linear time. tiktoken-go gives the same counts, which the tests hold, but takes 15 times as
// long for a text of 4 bytes, 70 times for one of 256, and quadratic time where a text has no place to split.
//
// # Entries
//
// The count of an entry is the sum of these; the count of a history is the sum over its entries:
//
//	every entry      4, for the frame that a provider puts around it
//	text, code       the text, the code
//	thinking         the thought; no signature and no encrypted reasoning
//	tool call        the name and the parameters as JSON text
//	tool response    the result as a model reads it (a string itself, anything else its JSON text), and the error
//	media            an estimate by kind and size (see media.go), and the caption; never the base64 as text
//	unknown block    its JSON text; a base64 string in it by the estimate for media
//
// A picture or PDF inside a structured tool result is estimated as media too. Metadata, ids and unknown fields are not
// counted: no model sees them.
package tokens
