package bpe

import (
	"context"
	"slices"
)

// overlap is how many bytes a part extends beyond the start of the next. Mostly, two parts agree after a few tokens.
const overlap = 2 << 10

// Part is the tokens of a part of a long piece, counted as if it stood alone.
type Part struct {
	tokens int
	first  []span // the tokens that begin in its first overlap bytes
	last   []span // the tokens that end in the overlap with the next part
}

// span is a token and where in the piece it begins and ends. before is how many tokens of its part precede it.
type span struct {
	token      uint32
	begin, end int
	before     int
}

// CountPart counts s[from:to] and a little more. Parts may be counted at the same time, each with its own w;
// [Table.Join] adds them up.
func (t *Table) CountPart(ctx context.Context, s string, from, to int, w *Work) (Part, error) {
	n, err := t.search(ctx, s[from:min(to+overlap, len(s))], w)
	if err != nil {
		return Part{}, err
	}
	p := Part{tokens: n}
	begin := from
	for i := 0; i < n && begin < from+overlap; i++ {
		token := w.stack[i].token()
		end := begin + t.tokens[token].length()
		p.first = append(p.first, span{token, begin, end, i})
		begin = end
	}
	end := min(to+overlap, len(s))
	for i := n - 1; i >= 0 && end >= to; i-- {
		token := w.stack[i].token()
		begin := end - t.tokens[token].length()
		p.last = append(p.last, span{token, begin, end, i})
		end = begin
	}
	slices.Reverse(p.last)
	return p, nil
}

// Join returns the number of tokens of s, given all its parts in order. Two parts are joined where a token of one ends,
// one of the other begins, and both stay apart: every two adjacent tokens of the joined sequence stay apart, and there
// is only one such sequence. It reports false if there is no such place.
func (t *Table) Join(s string, parts []Part) (tokens int, ok bool) {
	tokens = parts[0].tokens
	for i, next := range parts[1:] {
		before, after, ok := t.meet(s, parts[i].last, next.first)
		if !ok {
			return 0, false
		}
		tokens += next.tokens - after.before - (parts[i].tokens - before.before - 1)
	}
	return tokens, true
}

// meet returns the first two tokens, one of each, that stay apart where they meet.
func (t *Table) meet(s string, last, first []span) (before, after span, ok bool) {
	for len(last) > 0 && len(first) > 0 {
		switch before, after := last[0], first[0]; {
		case before.end < after.begin:
			last = last[1:]
		case before.end > after.begin:
			first = first[1:]
		default:
			if t.stay(placed(before.token), after.token, t.start(s, after.begin-1).token()) {
				return before, after, true
			}
			last, first = last[1:], first[1:]
		}
	}
	return span{}, span{}, false
}
