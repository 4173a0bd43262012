package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// words returns words as the command gets them; ok only if all of them are literal and no glob. The parser has taken
// the line apart already; what is left is what a shell would expand.
func words(list []*syntax.Word) (out []string, ok bool) {
	for _, w := range list {
		s, ok := text(w)
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

// text returns a word without its quotes; ok is false if something in it is expanded. A quoted glob is none.
func text(w *syntax.Word) (string, bool) {
	if w == nil {
		return "", true // an empty here-document
	}
	var b strings.Builder
	for _, part := range w.Parts {
		// Each kind of quotes has rules of its own.
		switch p := part.(type) {
		case *syntax.Lit:
			// Also where a backslash quotes one of these: such names are rare, and left out.
			if strings.ContainsAny(p.Value, "*?[{") {
				return "", false
			}
			b.WriteString(unescaped(p.Value))
		case *syntax.SglQuoted:
			// $'…' has escapes of its own.
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, in := range p.Parts {
				lit, ok := in.(*syntax.Lit)
				if !ok {
					return "", false
				}
				b.WriteString(unescaped(lit.Value))
			}
		// Variables, commands and arithmetic are expanded: their values are not known here.
		default:
			return "", false
		}
	}
	return b.String(), true
}

// unescaped removes the backslashes that quote a character. A backslash at the end stays.
func unescaped(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// flags parts the arguments of a command: the letters of its options, and what is none. valued are the letters of
// options that take the next argument. Long options are dropped, with their values after "="; one whose value is the
// next word is misread as having a file.
func flags(args []string, valued string) (opts string, rest []string) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return opts, append(rest, args[i+1:]...)
		case strings.HasPrefix(a, "--"):
		case strings.HasPrefix(a, "-") && len(a) > 1:
			opts += a[1:]
			// In "-n5" the value is part of the word. Of a group such as -xn the value is not recognised; no command
			// here is used so.
			if strings.Contains(valued, a[len(a)-1:]) && len(a) == 2 {
				i++
			}
		default:
			rest = append(rest, a)
		}
	}
	return opts, rest
}

// sedPrints reports whether sed prints lines of its input and changes nothing: "sed -n '1,20p'". rest are the files. A
// script with a pattern such as /x/p is not among these, as a pattern can hold any character.
func sedPrints(args []string) (bool, []string) {
	opts, rest := flags(args, "")
	if opts != "n" || len(rest) == 0 {
		return false, nil
	}
	// Several ranges may be printed.
	for line := range strings.SplitSeq(rest[0], ";") {
		line = strings.TrimSpace(line)
		numbers, ok := strings.CutSuffix(line, "p")
		if !ok || strings.Trim(numbers, "0123456789,$ +~") != "" {
			return false, nil
		}
	}
	return true, rest[1:]
}

// hasAny reports whether one of the options is among the arguments. Letters are also found in a group such as -rn.
func hasAny(args []string, names ...string) bool {
	for _, a := range args {
		for _, n := range names {
			if a == n || len(n) == 2 && len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.Contains(a[1:], n[1:]) {
				return true
			}
		}
	}
	return false
}
