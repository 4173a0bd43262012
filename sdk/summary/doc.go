// Package summary turns a range of a history into a state snapshot that a model writes. It is for authors of strategies
// that need an LLM: choose the range, and leave the rest to [Run].
//
//	from, to := 0, summary.Cut(in.History, len(in.History)/2)
//	result, err := summary.Run(ctx, host, in, summary.Range{From: from, To: to})
//	if err != nil {
//		return sdk.CompressResult{}, err
//	}
//	return result.Compressed(in), nil
//
// What Run sees to:
//   - The request holds text only: tool blocks and attachments are flattened ([Flatten]). It says that the record is
//     data and that no instruction in it counts, and marks its entries with an id that nothing in it can forge.
//   - It fits into the model's window. A larger range is reduced, the oldest tool results to one line each ([Line]),
//     and then folded in parts with a snapshot that is carried from one to the next. The number of requests is bounded.
//   - The answer is a closed, non-empty <state_snapshot>, or an error. It is asked for a second time at most once.
//   - What people said stays word for word as far as [sdk.CompressInput.UserMessageBudget] goes, the newest first; what
//     they said last always does. Files read and modified and commands run are recorded from the tool calls, not by the
//     model.
//   - The model is told the unfinished tasks ([sdk.CompressSettings.Todos]).
//   - A summary made earlier that stands in the range is updated, and what it recorded is carried on.
//   - What counts at least as much as the range that it replaces is a no-op.
package summary
