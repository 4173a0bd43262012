package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/thresh-dev/thresh/sdk/tools"
)

// words returns words as the command gets them; ok only if all are literal and not globs.
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
		switch p := part.(type) {
		case *syntax.Lit:
			// Even if a backslash quotes one of these: such names are rare.
			if strings.ContainsAny(p.Value, "*?[{") {
				return "", false
			}
			if b.Len() == 0 && hasDrive(p.Value) {
				b.WriteString(p.Value) // PowerShell and cmd.exe keep the backslashes
				continue
			}
			b.WriteString(unescaped(p.Value, ""))
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
				b.WriteString(unescaped(lit.Value, "$`\"\\\n"))
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// hasDrive reports whether a word begins as paths of Windows do, "C:\".
func hasDrive(s string) bool { return len(s) > 2 && s[1:3] == `:\` && tools.IsAbs(s) }

// unescaped removes the backslashes that quote a character, one of those in only, or any if that is empty; one at the
// end is kept.
func unescaped(s, only string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (only == "" || strings.IndexByte(only, s[i+1]) >= 0) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// flags separates the letters of a command's options from its other arguments. valued are the letters of options that
// take the next argument. Long options are dropped; the value of one as a separate word is misread as a file.
func flags(args []string, valued string) (opts string, rest []string) {
	var letters []byte
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return string(letters), append(rest, args[i+1:]...)
		case strings.HasPrefix(a, "--"):
		case strings.HasPrefix(a, "-") && len(a) > 1:
			letters = append(letters, a[1:]...)
			// In "-n5" the value is part of the word. In a group such as -xn it is not recognised.
			if strings.Contains(valued, a[len(a)-1:]) && len(a) == 2 {
				i++
			}
		default:
			rest = append(rest, a)
		}
	}
	return string(letters), rest
}

// sedPrints reports whether sed only prints lines of its input ("sed -n '1,20p'"). rest are the files. A script with a
// pattern such as /x/p does not count, as a pattern can hold any character.
func sedPrints(args []string) (bool, []string) {
	opts, rest := flags(args, "")
	if opts != "n" || len(rest) == 0 {
		return false, nil
	}
	for line := range strings.SplitSeq(rest[0], ";") {
		line = strings.TrimSpace(line)
		numbers, ok := strings.CutSuffix(line, "p")
		if !ok || strings.Trim(numbers, "0123456789,$ +~") != "" {
			return false, nil
		}
	}
	return true, rest[1:]
}

// getContent returns the files that PowerShell's Get-Content prints, and whether only parts of them; ok is false with an
// option, or a list, of which that is not known.
func getContent(args []string) (files []string, partial, ok bool) {
	for i := 0; i < len(args); i++ {
		switch option := strings.ToLower(args[i]); {
		case strings.Contains(option, ","):
			return nil, false, false
		case !strings.HasPrefix(option, "-"):
			files = append(files, args[i])
		case slices.Contains([]string{"-path", "-literalpath", "-raw"}, option):
		case option == "-encoding":
			i++
		case slices.Contains([]string{"-totalcount", "-head", "-first", "-tail", "-last"}, option):
			partial = true
			i++
		default:
			return nil, false, false
		}
	}
	return files, partial, true
}

// hasAny reports whether one of the options is among the arguments, also in a group such as -rn.
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
