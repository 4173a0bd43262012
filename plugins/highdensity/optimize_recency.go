package main

import "github.com/thresh-dev/thresh/sdk"

// prunedPointer stands in for a result that was pruned (REQ-HD-007.2).
const prunedPointer = "[Result pruned — re-run tool to retrieve]"

// pruneByRecency puts a pointer in the place of all results but the newest of each tool and returns how many it pruned
// (REQ-HD-007). The response itself stays, with its error and everything else, so that its call keeps it.
func pruneByRecency(d *draft, retention int) int {
	retention = max(retention, 1) // REQ-HD-013.6
	seen := map[string][]int{}    // tool → the entries of its results, the newest first
	pruned := 0
	for i := len(d.history) - 1; i >= 0; i-- {
		if d.history[i].Speaker != sdk.Tool || d.removed[i] {
			continue
		}
		blocks := d.blocks(i)
		for j := len(blocks) - 1; j >= 0; j-- {
			response, ok := blocks[j].(sdk.ToolResponse)
			if !ok || response.CallID == "" || isPointer(response) { // without an id it is malformed, and left alone
				continue
			}
			newer := seen[response.ToolName]
			seen[response.ToolName] = append(newer, i)
			if len(newer) >= retention {
				d.setBlock(i, j, response.WithResultText(prunedPointer))
				d.because(i, ruleOldResult, newer[len(newer)-retention]) // the one that pushed it out
				pruned++
			}
		}
	}
	return pruned
}

// isPointer reports whether the result was pruned before. Pointers do not count as results: otherwise they would push
// the results that were kept out of the window one by one.
func isPointer(r sdk.ToolResponse) bool {
	const longest = 6 * len(prunedPointer) // every character written as \uXXXX
	return len(r.Result) <= longest+2 && len(r.Result) > 0 && r.Result[0] == '"' && r.ResultText() == prunedPointer
}
