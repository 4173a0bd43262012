package summary

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// message is what a person said in the range, or what an earlier summary kept of it.
type message struct {
	text   string
	tokens int  // below 0: not counted yet
	latest bool // said last in the whole history: kept at any size
}

const (
	wordsHead    = "\n\nWhat the user said, word for word, oldest first"
	wordsAll     = ":"
	wordsSome    = " (other messages are in the snapshot only):"
	messageStart = "\n[message of "
	messageEnd   = " characters]\n"
)

// choose returns which messages are kept: the latest in any case, then the newest that fit into so many tokens. One
// that is too large does not keep older ones out: short ones hold the rules that people set.
func choose(messages []message, budget int) (keep []bool, kept int) {
	keep = make([]bool, len(messages))
	for i := len(messages) - 1; i >= 0; i-- {
		m := messages[i]
		if m.latest {
			budget -= m.tokens
			keep[i], kept = true, kept+1
		}
	}
	for i := len(messages) - 1; i >= 0; i-- {
		if m := messages[i]; !keep[i] && m.tokens <= budget {
			budget -= m.tokens
			keep[i], kept = true, kept+1
		}
	}
	return keep, kept
}

// writeMessages writes the messages that are kept. Each says how long it is, so that it can be read again whatever is
// in it.
func writeMessages(b *strings.Builder, messages []message, keep []bool, kept int, more bool) {
	if kept == 0 {
		return
	}
	b.WriteString(wordsHead)
	if more || kept < len(messages) {
		b.WriteString(wordsSome)
	} else {
		b.WriteString(wordsAll)
	}
	for i, m := range messages {
		if keep[i] {
			fmt.Fprintf(b, "%s%d%s%s", messageStart, utf8.RuneCountInString(m.text), messageEnd, m.text)
		}
	}
}

// readMessages reads what writeMessages wrote at the start of text, and returns what follows. more reports that others
// had been left out.
func readMessages(text string) (messages []string, more bool, rest string) {
	after, ok := strings.CutPrefix(text, wordsHead)
	if !ok {
		return nil, false, text
	}
	if rest, ok = strings.CutPrefix(after, wordsAll); !ok {
		if rest, more = strings.CutPrefix(after, wordsSome); !more {
			return nil, false, text
		}
	}
	for {
		after, ok := strings.CutPrefix(rest, messageStart)
		if !ok {
			return messages, more, rest
		}
		number, after, ok := strings.Cut(after, messageEnd)
		n, err := strconv.Atoi(number)
		if !ok || err != nil || n < 0 {
			return messages, more, rest
		}
		end := runes(after, n)
		messages = append(messages, after[:end])
		rest = after[end:]
	}
}

// runes returns how many bytes the first n characters of s have.
func runes(s string, n int) int {
	if n >= len(s) {
		return len(s)
	}
	for at := range s {
		if n == 0 {
			return at
		}
		n--
	}
	return len(s)
}
