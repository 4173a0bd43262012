package main

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// readCall is an answered call that did nothing but read these files.
type readCall struct {
	call, response turns.At
	paths          []string
}

// pruneStaleReads removes answered reads of files that were written later, the call and its response, and returns how
// many pairs it removed (REQ-HD-005). A read of several files is removed only if all of them were written later.
func pruneStaleReads(d *draft, in sdk.OptimizeInput) int {
	reads, written := readsAndWrites(d.history, in)
	var stale []turns.At
	for _, r := range reads {
		superseded := !slices.ContainsFunc(r.paths, func(path string) bool { return written[path] <= r.call.Entry })
		if superseded {
			stale = append(stale, r.call, r.response)
			last := lastWrite(r.paths, written)
			d.because(r.call.Entry, ruleStaleRead, last)
			d.because(r.response.Entry, ruleStaleRead, last)
		}
	}
	d.drop(stale)
	return len(stale) / 2
}

// lastWrite returns the last entry that wrote any of the files.
func lastWrite(paths []string, written map[string]int) int {
	last := 0
	for _, path := range paths {
		last = max(last, written[path])
	}
	return last
}

// readsAndWrites returns the reads that could be pruned, and for every file the last entry that wrote it. Calls are
// paired with their responses first:
//
//   - Unanswered calls are in neither result: a read may still be answered, and a write may never have happened.
//   - A write is ignored if its response bears any sign of a failure, because the file may be unchanged.
//   - A call of such a tool whose parameters name no file is skipped, with a line in the log at debug (EC-016).
//   - A read by a glob pattern is never pruned, because the pattern does not tell which files were read.
//   - A partial write counts unless compression.density.partialWrites says "keep": after it, the model may still need
//     the rest of the file from the read.
func readsAndWrites(history []sdk.Content, in sdk.OptimizeInput) (reads []readCall, written map[string]int) {
	written = map[string]int{}
	for at, answer := range turns.Pair(history).Answered() {
		call := history[at.Entry].Blocks[at.Block].(sdk.ToolCall)
		use := in.Tools.Use(call.Name, call.Parameters)
		if use.NoFile {
			in.Log.Debug("tool call skipped: its parameters name no file", "tool", call.Name, "call", call.ID, "entry",
				at.Entry)
			continue
		}
		if len(use.Reads) > 0 && !use.Glob {
			reads = append(reads, readCall{at, answer, resolved(in.WorkspaceRoot, use.Reads)})
		}
		response := history[answer.Entry].Blocks[answer.Block].(sdk.ToolResponse)
		if len(use.Writes) == 0 || in.Tools.Failed(call, response) {
			continue
		}
		for _, w := range use.Writes {
			if in.Density.PartialWrites != sdk.PartialWritesKeep || w.Whole || w.Deletes {
				written[tools.Resolve(in.WorkspaceRoot, w.Path)] = at.Entry
			}
		}
	}
	return reads, written
}

// resolved returns the paths in the one spelling that makes them comparable: absolute and without "." and "..".
func resolved(root string, paths []string) []string {
	out := make([]string, len(paths))
	for i, path := range paths {
		out[i] = tools.Resolve(root, path)
	}
	return out
}

// drop removes blocks, and entries in which nothing useful to a model is left. A call and its response are always
// dropped together, so that the history stays valid.
func (d *draft) drop(refs []turns.At) {
	gone := map[int]map[int]bool{} // entry → its blocks that go
	for _, at := range refs {
		if gone[at.Entry] == nil {
			gone[at.Entry] = map[int]bool{}
		}
		gone[at.Entry][at.Block] = true
	}
	for i, blocks := range gone {
		var left []sdk.Block
		empty := true
		for j, b := range d.blocks(i) {
			if blocks[j] {
				continue
			}
			left = append(left, b)
			empty = empty && worthless(d.history[i].Speaker, b)
		}
		if empty {
			d.remove(i)
		} else {
			d.replaced[i] = left
		}
	}
}

// worthless reports whether a block is not worth keeping once everything else in its entry is gone: blank text, and
// the thinking that led to a call that was removed.
func worthless(speaker sdk.Speaker, b sdk.Block) bool {
	switch b := b.(type) {
	case sdk.Text:
		return strings.TrimSpace(b.Text) == ""
	case sdk.Thinking:
		return speaker == sdk.AI
	}
	return false
}
