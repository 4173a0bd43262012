package statements

import (
	"bytes"
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// blocks reads an entry that was c when it was added. Blocks keep their order, and may go.
func (r *reading) blocks(was, now content.Content) {
	if was.Speaker != now.Speaker {
		r.wrong(Changed, string(now.Speaker), "it was said by "+string(was.Speaker))
	}
	if was.Speaker == content.Human {
		r.message(was.Blocks, now.Blocks)
		return
	}
	next := 0
	for j, b := range now.Blocks {
		k := r.counterpart(was, next, b, j, len(now.Blocks)-j)
		if text, ok := b.(content.Text); k < 0 && ok && r.o.Foreign && bracketed(text.Text) {
			continue
		} else if k < 0 {
			r.wrong(Unknown, describe(b), "the entry had no such block")
			continue
		}
		r.block(was, k, b, j)
		next = k + 1
	}
}

// counterpart returns which of the blocks from next on b was; -1 if none. left is how many blocks of the view there are
// from b on: as many must be left to be theirs.
func (r *reading) counterpart(was content.Content, next int, b content.Block, j, left int) int {
	if id, ok := content.CallID(b); ok {
		var all []int
		for k := next; k < len(was.Blocks); k++ {
			x := was.Blocks[k]
			if known, _ := content.CallID(x); known == id && content.Apart(x).Kind == content.Apart(b).Kind {
				all = append(all, k)
			}
		}
		if len(all) == 0 {
			return -1
		}
		// Ids repeat in an entry: it is the first of which b is true.
		if i := slices.IndexFunc(all, func(k int) bool { return len(all) == 1 || r.holds(was, k, b, j) }); i >= 0 {
			return all[i]
		}
		return all[0]
	}
	rest := was.Blocks[next:]
	for k := range rest {
		if content.Equal(rest[k], b) {
			return next + k
		}
	}
	for k := range rest {
		x, isText := rest[k].(content.Text)
		// Of several texts, the first that has enough behind it, unless a later one begins like b.
		if y, ok := b.(content.Text); isText && ok && (len(rest)-k <= left || begins(x.Text, y.Text)) {
			return next + k
		}
	}
	return -1
}

// holds reports whether nothing is wrong with a block if it was block k.
func (r *reading) holds(was content.Content, k int, b content.Block, j int) bool {
	n := len(r.report.All)
	r.block(was, k, b, j)
	said := r.report.All[n:]
	r.report.All = r.report.All[:n]
	return !slices.ContainsFunc(said, func(f Finding) bool { return f.Why != "" })
}

// begins reports whether two texts have their first line in common.
func begins(a, b string) bool {
	first := func(s string) string { s, _, _ = cut(s, '\n'); return s }
	return first(a) == first(b)
}

// block reads a block next to what it was, block k of an entry. j is its position in the entry of the view.
func (r *reading) block(entry content.Content, k int, now content.Block, j int) {
	by, at := entry.Speaker, turns.At{Entry: r.at[r.view[r.index].ID], Block: k}
	if content.Equal(entry.Blocks[k], now) {
		return
	}
	switch was := entry.Blocks[k].(type) {
	case content.Text:
		now, ok := now.(content.Text)
		if !ok || !was.Extra.Equal(now.Extra) {
			break
		}
		r.walk(place{by: by, block: j}, was.Text, now.Text)
		return
	case content.ToolCall:
		now := now.(content.ToolCall)
		if was.Name != now.Name {
			r.wrong(Changed, now.Name, "the tool was "+was.Name)
		}
		if !r.values(place{by: by, block: j, call: true}, was.Parameters, now.Parameters) {
			r.wrong(Changed, string(now.Parameters), "the parameters are others")
		}
		return
	case content.ToolResponse:
		now := now.(content.ToolResponse)
		if was.ToolName != now.ToolName {
			r.wrong(Changed, now.ToolName, "the tool was "+was.ToolName)
		}
		if was.Error != now.Error {
			r.wrong(Changed, now.Error, "the error was "+was.Error)
		}
		if bytes.Equal(was.Result, now.Result) || r.whole(at, was, now) {
			return
		}
		if failed, why := judgeSigns(was); failed == yes && r.o.Foreign {
			if still, _ := judge(now); still == no {
				r.wrong(Failure, now.ResultText(), why)
				return
			}
		}
		p := place{by: by, block: j, answer: true}
		switch {
		case r.values(p, was.Result, now.Result):
		case bytes.HasPrefix(now.Result, []byte(`"`)): // a part of its JSON
			r.walk(p, was.ResultText(), now.ResultText())
		default:
			r.wrong(Unknown, now.ResultText(), "it is not what is left of the result")
		}
		return
	}
	r.wrong(Unknown, describe(now), "the block was another one")
}

// values reads JSON text in which strings may have lost lines. It returns false if anything else differs.
func (r *reading) values(p place, was, now []byte) bool {
	old, new := content.Literals(was), content.Literals(now)
	if len(old) != len(new) {
		return false
	}
	at, to := 0, 0
	for i := range old {
		if !bytes.Equal(was[at:old[i].From], now[to:new[i].From]) {
			return false
		}
		at, to = old[i].To, new[i].To
	}
	if !bytes.Equal(was[at:], now[to:]) {
		return false
	}
	for i := range old {
		if old[i].Text != new[i].Text {
			r.walk(p, old[i].Text, new[i].Text)
		}
	}
	return true
}
