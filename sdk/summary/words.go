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

// The texts that mark messages in a summary. readMessages parses them.
const (
	wordsHead    = "\n\nWhat the user said, word for word, oldest first"
	wordsAll     = ":"
	wordsSome    = " (other messages are in the snapshot only):"
	messageStart = "\n[message of "
	messageEnd   = " characters]\n"
)

// choose decides which messages stay word for word: the latest in any case, then the newest that fit into budget
// tokens. A message that does not fit does not exclude older ones: short ones often hold the rules that users set.
//
// keep has an element for each message; kept is how many of them are true.
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

// writeMessages writes the kept messages. Each is preceded by its length in characters, so any text in it, even a
// copy of these marks, can be read back.
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

// readMessages is the inverse of writeMessages. It reads at the start of text and returns what follows. more reports
// that some messages had been left out.
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
		// The length decides where the message ends, not what it says: it may hold the marks of the next one.
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

// runes returns the length in bytes of the first n characters of s.
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
