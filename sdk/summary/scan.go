package summary

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// piece is one entry of the range, flattened for the request.
type piece struct {
	entry  int    // its position in the history
	label  string // the speaker's name in the record
	text   string
	tokens int // at most so many, with its label
}

// latestLabel marks the user's last message in the record; latestRule refers to it.
const latestLabel = ", most recent message"

// The most that the heading of an entry, or of a part of it, counts in tokens.
const (
	headingTokens = 16
	labelTokens   = 8
)

// scanned is everything that a Run needs of a range, read in one pass.
type scanned struct {
	pieces []piece
	draft  draft
	// prior is the snapshot of the newest earlier summary in the range, which is to be updated; "" if there is none.
	prior string
	// priorAt and priorPiece say where that summary stands, in the history and in pieces; -1 if nowhere. Its piece is
	// replaced by a note once it is known that the snapshot has a place of its own.
	priorAt, priorPiece int
	// carries reports whether it holds messages: they are newer than any that stands before it.
	carries bool
	// latest is what the person said last, unless that follows the range.
	latest string
}

// priorNote replaces the earlier summary in the record, as the request has it in a section of its own.
const priorNote = "[The conversation up to this place is also in the snapshot so far.]"

// scan reads History[r.From:r.To]: pieces for the request, and messages, facts and attachments for the summary itself.
func scan(in sdk.CompressInput, r Range, pairs *turns.Pairs) scanned {
	s := scanned{priorAt: -1, priorPiece: -1}
	last := LastMessage(in.History)
	lastPiece, lastMessage := -1, -1
	carried := map[int]facts{}
	for i := r.From; i < r.To; i++ {
		entry := in.History[i]
		if text, ok := priorText(entry); ok {
			p := readPrior(entry, text)
			carried[i] = p.facts
			s.take(i, p)
			continue
		}
		if entry.Speaker == sdk.AI && markOf(entry).Reason == reasonContinuation {
			continue // it answered a summary
		}
		if entry.Speaker == sdk.Human && !entry.Pinned() { // what is pinned stays itself
			if text, words := said(entry, true); words {
				if i == last {
					lastMessage = len(s.draft.messages)
				}
				s.draft.messages = append(s.draft.messages, message{text: text, tokens: messageTokens(in, i)})
			}
		}
		if text, dropped := flatten(entry, nil); text != "" {
			if i == last {
				lastPiece = len(s.pieces)
			}
			s.pieces = append(s.pieces, piece{i, speakerLabel(entry.Speaker), text, entryTokens(in, i, text, dropped)})
		}
	}
	// Where the user's last message is: kept in an earlier summary, after the range, in it, or before it.
	switch n := len(s.draft.messages); {
	case s.carries && s.priorAt > last:
		s.draft.messages[n-1].latest, s.latest = true, s.draft.messages[n-1].text
	case last >= r.To:
		s.draft.media = nil
	case last >= r.From:
		if lastPiece >= 0 {
			s.pieces[lastPiece].label += latestLabel
		}
		if s.draft.media = attachments(in.History[last]); in.History[last].Pinned() {
			s.draft.media = nil
		}
		if lastMessage >= 0 {
			s.draft.messages[lastMessage].latest, s.latest = true, s.draft.messages[lastMessage].text
		}
	case last >= 0:
		s.draft.media = nil
		s.latest, _ = said(in.History[last], true)
	}
	if s.priorPiece >= 0 { // it has a place of its own in the request
		s.pieces[s.priorPiece] = newPiece(s.priorAt, "note", priorNote)
	}
	s.draft.facts = gather(in, r, pairs, carried)
	if in.TranscriptPath != "" {
		s.draft.pointer = in.TranscriptPath
	}
	return s
}

// take carries on the contents of an earlier summary. Of several, the newest is updated; the others become part of the
// record. Its messages are kept for the choice of what stays word for word.
func (s *scanned) take(entry int, p prior) {
	s.prior, s.priorAt, s.priorPiece = p.snapshot, entry, len(s.pieces)
	s.pieces = append(s.pieces, newPiece(entry, "earlier snapshot", p.snapshot))
	for _, text := range p.messages {
		s.draft.messages = append(s.draft.messages, message{text: text, tokens: -1})
	}
	if p.transcript != "" {
		s.draft.pointer = p.transcript
	}
	s.carries = len(p.messages) > 0
	s.draft.media = p.media
	s.draft.more = s.draft.more || p.more
}

// messageTokens returns the tokens of a message; -1 if the host has to count it. The entry's own count includes
// attachments, of which a summary only keeps the names.
func messageTokens(in sdk.CompressInput, i int) int {
	if in.TokensIn == nil || slices.ContainsFunc(in.History[i].Blocks, isMedia) {
		return -1
	}
	return in.Tokens(i, i+1) + labelTokens
}

func attachments(entry sdk.Content) (media []sdk.Block) {
	for _, b := range entry.Blocks {
		if isMedia(b) {
			media = append(media, b)
		}
	}
	return media
}

func isMedia(b sdk.Block) bool { _, ok := b.(sdk.Media); return ok }

func speakerLabel(s sdk.Speaker) string {
	switch s {
	case sdk.Human:
		return "user"
	case sdk.AI:
		return "assistant"
	case sdk.Tool:
		return "tool"
	default:
		return "other"
	}
}

// newPiece makes a piece with an estimated size. Exact counts would need the host for every piece.
func newPiece(entry int, label, text string) piece {
	text = strings.ToValidUTF8(text, "\ufffd")
	return piece{entry, label, text, roughTokens(text) + headingTokens}
}

// entryTokens returns an upper bound for the tokens of an entry in a request, derived from the count that it came with:
// counting millions of tokens again would take longer than everything else.
func entryTokens(in sdk.CompressInput, i int, text string, dropped bool) int {
	n := in.Tokens(i, i+1) + labelTokens*len(in.History[i].Blocks)
	if rough := roughTokens(text); in.TokensIn == nil || dropped && rough < n {
		n = rough // thinking and attachments were counted, but are not sent
	}
	return max(n, minTokens(text)) + headingTokens
}

// roughTokens returns an upper bound for the tokens of a text: practically all text has two bytes per token or more.
func roughTokens(text string) int { return len(text)/2 + labelTokens }

// minTokens returns a lower bound for the tokens of a text under any tokenizer. The model's may differ from the
// host's, and a host that counts too little must not make a request overflow.
func minTokens(text string) int { return (len(text) + 3) / 4 }
