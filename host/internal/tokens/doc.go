// Package tokens counts what a history costs in a model's context, in tokens.
//
// It is for the host, which counts every entry once, when it enters, and keeps totals by addition and subtraction; a
// program that embeds the host rarely needs it. Start at [For]; then [Counter.Entry] counts one entry,
// [Counter.CountAll] a whole session, [Counter.Text] a text. All counters of a process share the vocabularies. Nothing is loaded before the first count, and
// nothing ever comes from the network: the vocabularies are part of the program.
//
// # Exact and approximate
//
// OpenAI publishes its encodings, so their models are counted exactly. Everybody else's (Claude, Gemini, DeepSeek, Qwen,
// Llama, …) are counted with o200k_base as an approximation, and so is a model without a name; [Counter.Exact] is false
// then. Expect Claude to need more than what is counted here, for source code in particular, and leave room for it in
// the threshold. System prompts and tool schemas are in no history and so in no count. A [Calibration] learns both from
// what the provider reports: on recorded sessions the plain count was 11 to 93 % off, the calibrated one up to 2.5 %.
//
// Special strings such as <|endoftext|> are counted as the ordinary text that they are in a history.
//
// # Untrusted text
//
// Tool output can be anything. Splitting a text into pieces takes time in proportion to its size, but merging one piece
// takes the square of the piece's size, and one letter a million times is a single piece. So an unbroken run of more
// than 1,024 bytes is counted in steps (run.go). Unbroken means a stretch without a place where every encoding splits
// whatever follows, such as the end of a word (boundary.go). Prose, code, JSON, base64 and hexadecimal have such a place
// every few bytes and are counted exactly, whatever their size. The steps may cost up to 0.25 % of a long run's count.
// That is a bound by measurement, not by proof: of some ten thousand drawn runs of letters, space, symbols, marks and
// ideographs none was off by a single token.
//
// # Entries
//
// The count of an entry is the sum of these, each block for itself, so that the count of a history is the sum of the
// counts of its entries:
//
//	every entry      4, for the frame that a provider puts around it
//	text, code       the text, the code
//	thinking         the thought; no signature and no encrypted reasoning
//	tool call        the name and the parameters as JSON text
//	tool response    the result as a model reads it (a string itself, anything else its JSON text), and the error
//	media            an estimate by kind and size (see media.go), and the caption; never the base64 as text
//	unknown block    its JSON text; a base64 string in it by the estimate for media
//
// A picture or a PDF inside a structured tool result is estimated as media too. Metadata, ids and unknown fields are
// never counted, for no model sees them.
package tokens
