package prune

import (
	"log/slog"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// file is what is known of one path.
type file struct {
	// written is 1 + the last entry that wrote it and whose response showed no failure; 0 is none.
	written int32
	// reads are the calls that read it, in order. Those before fresh were made before it was written last.
	reads []int32
	fresh int32
	// included is 1 + the id of its last inclusion.
	included int32
}

// toolCall is a call of a tool.
type toolCall struct {
	entry, block int32
	// Its files are in state.paths from paths on: first nReads that it does nothing but read, then nWrites.
	paths, nReads, nWrites int32 // one list for all calls, because most have one file
	noFile                 bool  // its parameters should name a file, but do not
	// fresh is how many of the files that it read were not written since. A read of several files is stale only if all
	// of them were written later.
	fresh int32
	// answer is 1 + the id of its result, if it is a read.
	answer int32
	// by is 1 + the entry whose write made it stale; 0: it is not stale.
	by int32
	// asks is 1 + the id of the call that it asks about: one whose response came before its command ended, which may not
	// have written its files yet.
	asks int32
}

func (s *state) reads(c *toolCall) []int32 { return s.paths[c.paths:][:c.nReads] }

func (s *state) writes(c *toolCall) []int32 { return s.paths[c.paths+c.nReads:][:c.nWrites] }

// file returns the id of the file at a path. Paths are resolved to the one spelling that makes them comparable:
// absolute and without "." and "..".
func (s *state) file(path string) int32 {
	path = tools.Key(s.set.root, path)
	id, ok := s.fileID[path]
	if !ok {
		id = s.files.add(file{})
		s.fileID[strings.Clone(path)] = id
	}
	return id
}

// takeCalls takes in the calls of an entry of the AI. They do nothing yet, because they are not answered: a read is
// pending and must stay, and a write may never happen. But reads are listed at their files already now, so each
// list is in the order of the calls, whatever the order of the answers.
//
//   - A read by a glob pattern is never pruned, because the pattern does not tell which files were read.
//   - Nor is a read in a pinned entry.
//   - A partial write counts unless compression.density.partialWrites says "keep": after it, the model may still need
//     the rest of the file from the read.
func (s *state) takeCalls(i int32, entry *sdk.Content) {
	pinned := entry.Pinned()
	for j, b := range entry.Blocks {
		b, ok := b.(sdk.ToolCall)
		if !ok {
			continue
		}
		s.match.Call(strings.Clone(b.ID), strings.Clone(b.Name), turns.At{Entry: int(i), Block: int(s.calls.n)})
		use := s.set.tools.UseCall(b)
		c := toolCall{entry: i, block: int32(j), paths: int32(len(s.paths)), noFile: use.NoFile}
		if !use.Glob && !pinned {
			for _, path := range use.Reads {
				f := s.file(path)
				s.files.at(f).reads = append(s.files.at(f).reads, s.calls.n)
				s.paths = append(s.paths, f)
				c.nReads++
			}
		}
		c.fresh = c.nReads
		if use.Task != "" {
			c.asks = s.running[use.Task]
		}
		for _, w := range use.Writes {
			if s.set.density.PartialWrites != sdk.PartialWritesKeep || w.Whole || w.Deletes {
				s.paths = append(s.paths, s.file(w.Path))
				c.nWrites++
			}
		}
		s.calls.add(c)
	}
}

// takeResponses takes in the responses of an entry of a tool: first as answers to calls, then as results of tools.
func (s *state) takeResponses(history []sdk.Content, i int32, entry *sdk.Content, log *slog.Logger) {
	pinned := entry.Pinned()
	for j, b := range entry.Blocks {
		response, ok := b.(sdk.ToolResponse)
		if !ok {
			continue
		}
		r := toolResult{entry: i, block: int32(j), pinned: pinned}
		s.answer(history, &r, response, log)
		if s.set.density.RecencyPruning && r.gone == 0 && countsAsResult(response) {
			r.tool = s.tool(response.ToolName) + 1
		}
		if r.call == 0 && r.tool == 0 {
			continue
		}
		id := s.results.add(r)
		if r.tool != 0 {
			s.newest(id)
		}
	}
}

// answer takes in the response r to a call: from now on a read may go, and a write counts. A call whose parameters
// should name a file and do not is skipped, with a line in the log at debug (EC-016).
func (s *state) answer(history []sdk.Content, r *toolResult, response sdk.ToolResponse, log *slog.Logger) {
	at, ok := s.match.Response(response.CallID, response.ToolName)
	if !ok {
		return
	}
	id := int32(at.Block)
	c := s.calls.at(id)
	asked := history[s.position(c.entry)].Blocks[c.block].(sdk.ToolCall)
	if c.noFile {
		log.Debug("tool call skipped: its parameters name no file",
			"tool", asked.Name, "call", asked.ID, "entry", s.position(c.entry))
		return
	}
	if c.nReads > 0 && !r.pinned {
		r.call = id + 1
		c.answer = s.results.n + 1 // the id that r will have
		if c.fresh == 0 {          // the files were written while it ran
			s.supersede(c)
			r.gone = 1
			s.touched = append(s.touched, r.entry)
		}
	}
	if c.nWrites > 0 || c.asks != 0 {
		s.end(id, r, asked, response)
	}
}

// end takes in the response to a call that writes files, or that asks about a command in the background which does. The
// writes count once a response says that the command has ended, and was successful. They count as of the call: when in
// between they happened is not known.
//
// Any other response stays whatever other rules say: a later run would take the pointer in its place for a success.
func (s *state) end(id int32, r *toolResult, asked sdk.ToolCall, response sdk.ToolResponse) {
	c := s.calls.at(id)
	v := tools.Verdict{Outcome: tools.OutcomeSuccess}
	if response.Error != "" || !IsPointer(response) {
		v = s.set.tools.Judge(asked, response)
	}
	// An error stays next to the pointer.
	if v.Outcome != tools.OutcomeSuccess && response.Error == "" {
		r.pinned = true
	}
	switch writer := c; {
	case v.Outcome == tools.OutcomeSuccess:
		if c.asks != 0 {
			writer = s.calls.at(c.asks - 1)
		}
		for _, f := range s.writes(writer) {
			s.write(s.files.at(f), writer.entry)
		}
	case v.Outcome == tools.OutcomeRunning && v.Task != "" && c.nWrites > 0:
		s.running[strings.Clone(v.Task)] = id + 1
	}
}

// write takes in that an entry wrote a file. Reads of the file from earlier entries are no longer fresh. They are a
// prefix of its reads, so each is looked at once, however often the file is written. A write that is answered
// after a later one changes nothing.
func (s *state) write(f *file, entry int32) {
	if f.written > entry {
		return
	}
	f.written = entry + 1
	for ; int(f.fresh) < len(f.reads); f.fresh++ {
		c := s.calls.at(f.reads[f.fresh])
		if c.entry >= entry {
			break
		}
		c.fresh--
		if c.fresh == 0 && c.answer != 0 {
			s.supersede(c)
			s.drop(c.answer - 1)
		}
	}
}

// supersede takes in that all files of an answered read were written later. The reason is the last write until now, the
// one that made the read stale. Later ones do not change it: to update all stale reads of a file at each write would
// cost more and more as a session grows.
func (s *state) supersede(c *toolCall) {
	for _, f := range s.reads(c) {
		c.by = max(c.by, s.files.at(f).written)
	}
	s.touched = append(s.touched, c.entry)
	s.counts.pairs++
}
