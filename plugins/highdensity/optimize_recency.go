package main

import "github.com/thresh-dev/thresh/sdk"

// prunedPointer replaces a pruned result (REQ-HD-007.2). It tells the model how to get the result back.
const prunedPointer = "[Result pruned — re-run tool to retrieve]"

// pruneByRecency replaces all but the newest results of each tool by a pointer, and returns how many it replaced
// (REQ-HD-007). The response itself stays, with its error and everything else, so that its call remains answered. It
// walks backwards, so that it meets the newest results first and knows how many there are after each.
func pruneByRecency(d *draft, retention int) int {
	retention = max(retention, 1) // the newest result always stays, whatever the setting (REQ-HD-013.6)
	seen := map[string][]int{}    // tool → the entries of its results, the newest first
	pruned := 0
	for i := len(d.history) - 1; i >= 0; i-- {
		if d.history[i].Speaker != sdk.Tool || d.removed[i] {
			continue
		}
		blocks := d.blocks(i)
		for j := len(blocks) - 1; j >= 0; j-- {
			response, ok := blocks[j].(sdk.ToolResponse)
			if !ok || response.CallID == "" || isPointer(response) {
				continue // a response without an id is malformed; leave it alone
			}
			newer := seen[response.ToolName]
			seen[response.ToolName] = append(newer, i)
			if len(newer) >= retention {
				d.setBlock(i, j, response.WithResultText(prunedPointer))
				d.because(i, ruleOldResult, newer[len(newer)-retention]) // the newer result that pushed it out
				pruned++
			}
		}
	}
	return pruned
}

// isPointer reports whether the result was pruned before. Pointers do not count as results; otherwise every new
// pointer would push a result that was kept over the limit. The length is checked first to avoid decoding large
// results.
func isPointer(r sdk.ToolResponse) bool {
	const longest = 6 * len(prunedPointer) // every character written as \uXXXX
	return len(r.Result) <= longest+2 && len(r.Result) > 0 && r.Result[0] == '"' && r.ResultText() == prunedPointer
}
