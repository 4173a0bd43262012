package summary

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/turns"
)

const (
	// mostParts bounds the number of requests for one range, however large it is: every request costs money and time.
	mostParts = 16
	// leastRoom is the least room for the record in a request, in tokens. With less, folding would make no progress.
	leastRoom = 512
	// leastPiece is the size down to which entries are cut, in tokens. Below it they say nothing; the oldest entries
	// are left out instead.
	leastPiece = 64
	// mostAnswer is the output limit that is requested if the model's own is unknown, in tokens.
	mostAnswer = 16_384
)

// window divides the model's context window. All fields are in tokens.
type window struct {
	size int
	// answer is set aside for the model's answer.
	answer int
	// fixed is taken by what is in every request: the system prompt, the rules and the prompt.
	fixed int
	// carried is the largest snapshot that can go on to the next part.
	carried int
}

// newWindow divides the window by the model's limits. A model whose context limit is unknown is assumed to have the
// agent's. The answer gets at most a quarter of the window, so small windows still have room for the record.
func newWindow(in sdk.CompressInput) window {
	w := window{size: in.Model.ContextLimit}
	if w.size <= 0 {
		w.size = in.ContextLimit
	}
	w.answer = in.Model.MaxOutput
	if w.answer <= 0 {
		w.answer = mostAnswer
	}
	// Models with a large output limit would otherwise leave nothing to read.
	w.answer = min(w.answer, w.size/4)
	w.carried = w.answer + w.answer/4 // the host may count more than the model does
	return w
}

// room returns how many tokens the record may take next to a snapshot of the given size. A twentieth of the window
// stays free, because the model's tokenizer is not the host's.
func (w window) room(snapshot int) int { return w.size - w.size/20 - w.answer - w.fixed - snapshot }

// check returns [ErrWindowTooSmall] if room is below leastRoom.
func (w window) check(room int) error {
	if room >= leastRoom {
		return nil
	}
	return fmt.Errorf("%w: of %d tokens, the prompt and rules need %d and the answer %d, "+
		"which leaves less than %d for the conversation; choose a model with a larger window in compression.profile",
		ErrWindowTooSmall, w.size, w.fixed, w.answer, leastRoom)
}

// fitter makes the record small enough. Its counters go into the metadata of the answer, so a loss is visible.
type fitter struct {
	in      sdk.CompressInput
	pairs   *turns.Pairs
	reduced int64 // results that became one line
	cut     int64 // entries of which a part was left out
	left    int64 // entries that were left out
}

// parts divides the pieces over requests. It prefers one request, with the oldest results reduced to one line each if
// necessary: a model that sees everything at once writes a better snapshot than one that folds. prior is the size of
// the snapshot that is to be updated. Pieces are changed in place.
func (f *fitter) parts(pieces []piece, w window, prior int) ([]part, error) {
	room := w.room(prior)
	if err := w.check(room); err != nil {
		return nil, err
	}
	if f.reduce(pieces, room) <= room {
		return []part{{pieces, 1, 1}}, nil
	}
	room = w.room(w.carried)
	if err := w.check(room); err != nil {
		return nil, err
	}
	for i := range pieces {
		f.shorten(&pieces[i], room)
	}
	packed := f.pack(pieces, room)
	parts := make([]part, len(packed))
	for i := range packed {
		parts[i] = part{packed[i], i + 1, len(packed)}
	}
	return parts, nil
}

// pack divides pieces, none larger than room, over at most [mostParts] parts. Greedy filling wastes space at the end of
// parts, so the record is squeezed harder until it fits. It works on a copy of f, or failed tries would be counted.
func (f *fitter) pack(pieces []piece, room int) [][]piece {
	packed := fill(pieces, room)
	// The last try cannot fail: two neighbouring parts together are more than one has room for, or they would be one.
	for _, most := range [...]int{mostParts * room * 9 / 10, mostParts * room * 7 / 10, (mostParts - 1) * room / 2} {
		if len(packed) <= mostParts {
			break
		}
		try := *f
		packed = fill(try.squeeze(pieces, most), room)
		if len(packed) <= mostParts {
			*f = try
		}
	}
	return packed
}

// total adds up the tokens of pieces.
func total(pieces []piece) (n int) {
	for _, p := range pieces {
		n += p.tokens
	}
	return n
}

// reduce turns results into lines, oldest first, until the pieces fit into room. It returns their total then. Old
// results are the largest and least needed part of a record.
func (f *fitter) reduce(pieces []piece, room int) int {
	sum := total(pieces)
	for i := range pieces {
		if sum <= room {
			break
		}
		p := &pieces[i]
		entry := f.in.History[p.entry]
		if entry.Speaker != sdk.Tool {
			continue
		}
		n := int64(0)
		// The whole entry is rendered again, as a piece has one text for all its blocks.
		text, _ := flatten(entry, func(block int, r sdk.ToolResponse) string {
			var call sdk.ToolCall
			if at, ok := f.pairs.Call(turns.At{Entry: p.entry, Block: block}); ok {
				call = f.in.History[at.Entry].Blocks[at.Block].(sdk.ToolCall)
			}
			line, ok := Line(f.in.Tools, call, r)
			if !ok {
				return ""
			}
			n++
			return line
		})
		if n == 0 {
			continue
		}
		sum -= p.tokens
		// The estimate of the shorter text may exceed an exact count of the longer one.
		p.text, p.tokens = text, min(p.tokens, roughTokens(text)+headingTokens)
		sum += p.tokens
		f.reduced += n
	}
	return sum
}

// shorten cuts the middle out of a piece that takes more than room tokens. Beginning and end of an output matter most.
// It assumes two bytes per token, the least that tokenizers need, and cuts between characters.
func (f *fitter) shorten(p *piece, room int) {
	if p.tokens <= room {
		return
	}
	const mark = "\n[… %d characters left out here …]\n"
	// The label of the piece and the mark of the cut are paid for.
	bytes := max(2*(room-headingTokens-2*labelTokens), 0)
	p.tokens = room
	if len(p.text) <= bytes {
		return
	}
	head, tail := bytes*2/3, len(p.text)-bytes/3
	for head > 0 && !utf8.RuneStart(p.text[head]) {
		head--
	}
	for tail < len(p.text) && !utf8.RuneStart(p.text[tail]) {
		tail++
	}
	p.text = p.text[:head] + fmt.Sprintf(mark, utf8.RuneCountInString(p.text[head:tail])) + p.text[tail:]
	f.cut++
}

// squeeze cuts the largest pieces down to a common size so that all fit into room; small ones, which are mostly what
// people said, stay whole. If there are too many pieces even for that, the oldest are left out, with a note in their
// place. It returns a new slice.
func (f *fitter) squeeze(pieces []piece, room int) []piece {
	limit := max(levelOf(pieces, room), leastPiece)
	out := slices.Clone(pieces)
	for i := range out {
		f.shorten(&out[i], limit)
	}
	sum := total(out)
	if sum <= room {
		return out
	}
	const note = "[The oldest %d entries are left out here.]"
	sum += roughTokens(note) + headingTokens + labelTokens
	n := 0
	for ; n < len(out) && sum > room; n++ {
		sum -= out[n].tokens
	}
	f.left += int64(n)
	return append([]piece{newPiece(out[0].entry, "note", fmt.Sprintf(note, n))}, out[n:]...)
}

// levelOf returns the largest size to which pieces must be cut so that they fit into room together. Going through the
// sizes in ascending order, each small piece leaves its unused share to the larger ones.
func levelOf(pieces []piece, room int) int {
	sizes := make([]int, len(pieces))
	for i, p := range pieces {
		sizes[i] = p.tokens
	}
	slices.Sort(sizes)
	for i, size := range sizes {
		left := len(sizes) - i
		if size*left > room {
			return room / left
		}
		room -= size
	}
	return math.MaxInt // they fit as they are
}

// fill distributes pieces over parts, in order, greedily. Every piece must fit into a part by itself. It returns at
// least one part.
func fill(pieces []piece, room int) [][]piece {
	var parts [][]piece
	from, sum := 0, 0
	for i, p := range pieces {
		if i > from && sum+p.tokens > room {
			parts = append(parts, pieces[from:i])
			from, sum = i, 0
		}
		sum += p.tokens
	}
	return append(parts, pieces[from:])
}
