package summary

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/turns"
)

const (
	// maxParts bounds the number of requests for one range, however large it is: every request costs money and time.
	maxParts = 16
	// minRoom is the least room for the record in a request, in tokens. With less, folding would make no progress.
	minRoom = 512
	// maxAnswer is the output limit that is requested if the model's own is unknown, in tokens.
	maxAnswer = 16_384
)

// window divides the model's context window. All fields are in tokens.
type window struct {
	size    int
	answer  int // set aside for the model's answer
	fixed   int // what is in every request: the system prompt, the rules and the prompt
	carried int // the largest snapshot that can go on to the next part
}

// newWindow divides the window by the model's limits. A model whose context limit is unknown is assumed to have the
// agent's. The answer gets at most a quarter: models with a large output limit would otherwise leave nothing to read.
func newWindow(in sdk.CompressInput) window {
	w := window{size: in.ContextLimit, answer: maxAnswer}
	if in.Model.ContextLimit > 0 {
		w.size = in.Model.ContextLimit
	}
	if in.Model.MaxOutput > 0 {
		w.answer = in.Model.MaxOutput
	}
	w.answer = min(w.answer, w.size/4)
	w.carried = w.answer + w.answer/4 // the host may count more than the model does
	return w
}

// room returns how many tokens the record may take next to a snapshot of the given size. A twentieth of the window
// stays free, because the model's tokenizer is not the host's.
func (w window) room(snapshot int) int { return w.size - w.size/20 - w.answer - w.fixed - snapshot }

// check returns [ErrWindowTooSmall] if room is below minRoom.
func (w window) check(room int) error {
	if room >= minRoom {
		return nil
	}
	return fmt.Errorf("%w: of %d tokens, the prompt and rules need %d and the answer %d, "+
		"which leaves less than %d for the conversation; choose a model with a larger window in compression.profile",
		ErrWindowTooSmall, w.size, w.fixed, w.answer, minRoom)
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
	room -= noteTokens
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

// noteTokens is what the note about left out entries takes at most.
const noteTokens = 64

// pack divides pieces, none larger than room, over at most [maxParts] parts, filled from the newest piece back. The
// oldest entries, for which there is no part, are left out, and a note says so: what people said there stays word for
// word next to the snapshot anyway.
func (f *fitter) pack(pieces []piece, room int) [][]piece {
	var packed [][]piece
	to := len(pieces)
	for to > 0 && len(packed) < maxParts {
		from, sum := to-1, pieces[to-1].tokens
		for from > 0 && sum+pieces[from-1].tokens <= room {
			from--
			sum += pieces[from].tokens
		}
		packed = append(packed, pieces[from:to])
		to = from
	}
	if to > 0 {
		f.left = int64(to)
		oldest := &packed[len(packed)-1]
		note := newPiece(pieces[0].entry, "note", fmt.Sprintf("[The oldest %d entries are left out here.]", to))
		*oldest = append([]piece{note}, *oldest...)
	}
	slices.Reverse(packed)
	return packed
}

// reduce turns results into lines, oldest first, until the pieces fit into room. It returns their total then.
func (f *fitter) reduce(pieces []piece, room int) int {
	sum := 0
	for _, p := range pieces {
		sum += p.tokens
	}
	for i := range pieces {
		if sum <= room {
			break
		}
		p := &pieces[i]
		entry := f.in.History[p.entry]
		if entry.Speaker != sdk.Tool {
			continue
		}
		n, own := int64(0), marks.In(entry)
		text, _ := flatten(entry, func(block int, r sdk.ToolResponse) string {
			var call sdk.ToolCall
			if at, ok := f.pairs.Call(turns.At{Entry: p.entry, Block: block}); ok {
				call = f.in.History[at.Entry].Blocks[at.Block].(sdk.ToolCall)
			}
			line, ok := Line(f.in.Tools, call, r, own[block])
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
