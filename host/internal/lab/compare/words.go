package compare

import (
	"encoding/json"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// An identifier is what a model must have seen to write it: a path, a qualified name, a number, a code, a quoted
// string. Recall counts how many of them a request still held. The rules are the same for all sessions and know no
// language.

// What is looked at is bounded: output of tools may be anything.
const (
	maxScan   = 1 << 20 // bytes of one block; what is behind them holds no identifiers
	maxRun    = 256     // bytes without a space; a longer run is data and no identifier
	minQuoted = 3       // bytes of a quoted string
	maxQuoted = 80
)

// blockWords yields the identifiers in a block, in their order, each as often as it occurs. A string is only valid
// until yield returns to the scanner, or for as long as the block is. Each byte is looked at a bounded number of times.
func blockWords(b content.Block, yield func(string)) {
	switch b := b.(type) {
	case content.Text:
		words(b.Text, yield)
	case content.Code:
		words(b.Code, yield)
	case content.Thinking:
		words(b.Thought, yield)
	case content.ToolCall:
		jsonWords(b.Parameters, false, yield)
	case content.ToolResponse:
		if rawjson.New(b.Result).Kind() == '"' {
			words(b.ResultText(), yield)
		} else {
			jsonWords(b.Result, true, yield)
		}
		words(b.Error, yield)
	}
}

// jsonWords yields the identifiers in the strings and numbers of JSON text, and short strings as they are: JSON has
// them in quotes. Names of fields are looked at if keys is set: names of parameters are the tool's, not the model's.
// It goes through the text without nesting, so neither depth nor what is no JSON matters.
func jsonWords(raw json.RawMessage, keys bool, yield func(string)) {
	for i := 0; i < min(len(raw), maxScan); { // a string that begins before the bound is read to its end
		if raw[i] != '"' {
			start := i
			for i < min(len(raw), maxScan) && raw[i] != '"' {
				i++
			}
			runs(string(raw[start:i]), yield)
			continue
		}
		end := stringEnd(raw, i)
		literal := raw[i:end]
		for i = end; i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\t' || raw[i] == '\r'); i++ {
		}
		// A string before a colon is the name of a field.
		name := i < len(raw) && raw[i] == ':'
		text, ok := rawjson.Text(literal)
		if !ok || name && !keys {
			continue
		}
		if !name && quotable(text) {
			yield(text)
		}
		words(text, yield)
	}
}

// words yields the identifiers of a text. A string is a slice of text.
func words(text string, yield func(string)) {
	text = text[:min(len(text), maxScan)]
	// Twice over the text: a quoted string may hold identifiers, and be one as a whole.
	runs(text, yield)
	quoted(text, yield)
}

// quoted yields the text between two quotes of one kind on one line. A quote inside of a word ("don't") opens nothing.
func quoted(text string, yield func(string)) {
	for i := 0; i < len(text); i++ {
		q := text[i]
		if q != '"' && q != '\'' && q != '`' || i > 0 && wordByte[text[i-1]] {
			// A quote opens where no word ends, and closes where none begins.
			continue
		}
		for j := i + 1; j < len(text) && j <= i+1+maxQuoted && text[j] != '\n'; j++ {
			if text[j] != q {
				continue
			}
			// The quote must end a word as well, or it is an apostrophe.
			if inner := text[i+1 : j]; (j+1 == len(text) || !wordByte[text[j+1]]) && quotable(inner) {
				yield(inner)
				i = j
			}
			break
		}
	}
}

// quotable reports whether a quoted text is worth looking for: short, on one line, and with a letter or digit.
func quotable(s string) bool {
	// Blanks at the ends belong to code around a string: "a + ' ' + b".
	if len(s) < minQuoted || len(s) > maxQuoted || s[0] == ' ' || s[len(s)-1] == ' ' {
		return false
	}
	telling := false
	for i := range len(s) {
		if s[i] < ' ' {
			return false
		}
		telling = telling || wordByte[s[i]]
	}
	return telling
}

// wordByte are letters, digits and "_"; all that is not ASCII counts as a letter. runByte are those and what joins
// them in paths, dotted names and the like.
var wordByte, runByte = func() (word, run [256]bool) {
	for c := range 256 {
		b := byte(c)
		word[c] = b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b >= 0x80
		run[c] = word[c] || strings.IndexByte("./-:@~", b) >= 0
	}
	return word, run
}()

// runs yields the identifiers in each run of bytes without spaces and punctuation.
func runs(text string, yield func(string)) {
	for i := 0; i < len(text); i++ {
		if !runByte[text[i]] {
			continue
		}
		start := i
		for i < len(text) && runByte[text[i]] {
			i++
		}
		// Shorter ones occur by accident.
		if i-start >= 3 && i-start <= maxRun {
			run(text[start:i], yield)
		}
	}
}

// run yields what is identifier-like in one run: a path, a qualified name ("std::vec"), or the pieces between ":",
// "@" and "~". Punctuation at the ends belongs to the sentence around it.
func run(s string, yield func(string)) {
	// A dot and a slash in front stay: they begin a path.
	s = strings.TrimRight(strings.TrimLeft(s, ":@-"), ":@-./~")
	s = strings.TrimPrefix(s, "./")
	// From the specific to the general.
	switch {
	case strings.Contains(s, "/"):
		path(s, yield)
	case strings.Contains(s, "::"):
		if letters(s) > 1 {
			yield(s)
		}
	default:
		for piece := range strings.FieldsFuncSeq(s, func(c rune) bool { return c == ':' || c == '@' || c == '~' }) {
			symbol(strings.Trim(piece, ".-"), yield)
		}
	}
}

// path yields a path or URL without a line and column at its end, so "a.go:12:3" and "a.go" are the same thing.
// Two plain words with a slash between them ("and/or") are not a path.
func path(s string, yield func(string)) {
	// There may be two numbers: line and column.
	for {
		at := strings.LastIndexByte(s, ':')
		if at < 0 || at+1 == len(s) || strings.Trim(s[at+1:], "0123456789-") != "" {
			break
		}
		s = s[:at]
	}
	if at := strings.LastIndex(s, ":/"); at >= 0 && !strings.HasPrefix(s[at:], "://") {
		s = s[at+1:] // "file:/a/b"
	}
	structured := strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~/") || strings.Count(s, "/") > 1 ||
		strings.ContainsAny(s, "._0123456789")
	// Dates and fractions have slashes too, but no letters.
	if structured && len(s) > 3 && letters(s) > 1 {
		yield(s)
	}
}

// symbol yields a name with structure, a number or a code: strings that are unlikely to occur by accident. Plain
// words are not identifiers; "parser" in a summary says nothing about which parser.
func symbol(s string, yield func(string)) {
	if len(s) < 3 {
		return
	}
	shape := shapeOf(s)
	switch {
	// "well-known" is two words, "2024-11-20" is a date and one thing.
	case shape.dashes > 0 && shape.dots == 0 && (shape.digits == 0 || shape.letters == 0 && shape.digits < 3):
		for piece := range strings.SplitSeq(s, "-") { // words joined by a hyphen
			symbol(piece, yield)
		}
	case shape.dots > 0 && shape.letters == 0:
		if shape.dots > 1 && shape.digits > 2 { // "10.0.0.1", not "0.95"
			yield(s)
		}
	case shape.dots > 0:
		if len(s) > 3 && shape.longest > 1 { // not "e.g"
			yield(s)
		}
	case shape.letters == 0:
		if shape.digits > 2 && len(s) <= 64 {
			yield(s)
		}
	// An underscore, camel case or a digit make a word a name.
	case shape.inner, shape.camel, shape.digits > 0 && len(s) > 3, errno[s]:
		yield(s)
	}
}

// shape describes the characters of a string: counts, and the two patterns that make a plain word a name. What is
// counted is what [symbol] asks for, and nothing else.
type shape struct {
	letters, digits, dots, dashes int
	longest                       int  // of the parts between dots
	camel                         bool // an upper case letter behind a lower case one
	inner                         bool // "_" between letters or digits
}

// shapeOf computes the shape in one pass. Bytes above ASCII count as letters.
func shapeOf(s string) shape {
	var out shape
	part := 0
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			out.digits++
		case c == '.':
			out.dots++
			part = -1
		case c == '-':
			out.dashes++
		case c == '_':
			// Underscores at the ends do not join anything.
			out.inner = out.inner || i > 0 && i+1 < len(s) && s[i-1] != '_' && strings.Trim(s[i:], "_") != ""
		default:
			out.letters++
			out.camel = out.camel || i > 0 && c >= 'A' && c <= 'Z' && s[i-1] >= 'a' && s[i-1] <= 'z'
		}
		part++
		out.longest = max(out.longest, part)
	}
	return out
}

func letters(s string) int { return shapeOf(s).letters }

// errno holds error and signal names without a digit. They look like ordinary capitalised words; codes with digits
// ("E0425", "TS2304") have structure enough.
var errno = func() map[string]bool {
	m := map[string]bool{}
	for code := range strings.FieldsSeq(`EACCES EADDRINUSE EADDRNOTAVAIL EAGAIN EBADF EBUSY ECANCELED ECHILD
		ECONNABORTED ECONNREFUSED ECONNRESET EDQUOT EEXIST EFAULT EHOSTUNREACH EINTR EINVAL EIO EISDIR ELOOP EMFILE
		ENAMETOOLONG ENETUNREACH ENFILE ENOENT ENOEXEC ENOMEM ENOSPC ENOSYS ENOTCONN ENOTDIR ENOTEMPTY ENOTFOUND
		ENOTSOCK ENOTSUP EPERM EPIPE EPROTO ERESOLVE EROFS ESRCH ESTALE ETIMEDOUT EXDEV
		SIGABRT SIGBUS SIGFPE SIGILL SIGINT SIGKILL SIGPIPE SIGSEGV SIGTERM`) {
		m[code] = true
	}
	return m
}()
