// Package statements checks that what thresh and the strategies that ship write into a history is true.
//
// A mark says that lines were omitted, or that they stand in an earlier result; one line stands for a result and says
// how it ended; a fold names the calls that went. A model believes these sentences, so each must hold: its counts, its
// names, its outcomes, and that what it refers to stands in the same request.
//
// [Checker] knows the conversation as it was added, and is shown what a model would be sent. Text that is in the view
// and not in the conversation has to be a sentence that it knows, and the sentence has to be true. It shares no code
// with what writes the sentences: neither a parser of marks, nor the counting, nor the judge of success. So a mistake
// there is not a mistake here. Start at [New].
//
//	statements.go  the checker: entries of a view and what they were
//	blocks.go      which block of a view was which
//	walk.go        a text next to what it was: what is left, and the marks between
//	marks.go       the sentences that stand between lines
//	whole.go       the sentences that stand for a whole result; success and failure
//	inclusion.go   files that people included
//	repeat.go      lines that are said to stand in an earlier result
//	fold.go        the line for calls that went
package statements
