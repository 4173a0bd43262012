package tokens

import (
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"strings"
)

// A hostilePattern makes n bytes, or a few more, of something that tool output could hold by accident or malice.
type hostilePattern struct {
	name string
	make func(n int) string
}

func hostilePatterns() []hostilePattern {
	repeat := func(name, unit string) hostilePattern {
		return hostilePattern{name, func(n int) string { return strings.Repeat(unit, n/len(unit)+1) }}
	}
	random := func(name string, alphabet string) hostilePattern {
		return hostilePattern{name, func(n int) string {
			rng, runes := rand.New(rand.NewPCG(1, 2)), []rune(alphabet)
			var b strings.Builder
			for b.Len() < n {
				b.WriteRune(runes[rng.IntN(len(runes))])
			}
			return b.String()
		}}
	}
	randomBytes := func(n int) []byte {
		rng, b := rand.New(rand.NewPCG(3, 4)), make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return b
	}
	return []hostilePattern{
		repeat("one letter", "a"),
		repeat("one capital", "A"),
		repeat("one digit", "1"),
		repeat("spaces", " "),
		repeat("newlines", "\n"),
		repeat("tabs", "\t"),
		repeat("equal signs", "="),
		repeat("slashes", "/"),
		repeat("rule of minus and plus", "+---------"),
		repeat("box drawing", "─"),
		repeat("newline and space", "\n "),
		repeat("space and newline", " \n"),
		repeat("newline and 300 spaces", "\n"+strings.Repeat(" ", 300)),
		repeat("newline and 1100 spaces", "\n"+strings.Repeat(" ", 1100)),
		repeat("bang and newline", "!\n"),
		repeat("slash and newline", "/\n"),
		repeat("newline and two slashes", "\n//"),
		repeat("symbols and breaks", "/-///\n"),
		repeat("quotes around s", "'s''"),
		repeat("quotes and marks", "s''\u0301\u0301"),
		repeat("quotes and letters", "it's'"),
		repeat("combining marks", "\u0301"),
		repeat("bang and combining mark", "!\u0301!!"),
		repeat("camel case", "fooBarBAZ"),
		repeat("one ideograph", "字"),
		repeat("emoji", "👩‍👧"),
		repeat("arabic digits", "٣٤٥٦"),
		repeat("1000 letters and a space", strings.Repeat("q", 1000)+" "),
		repeat("endoftext", "<|endoftext|>"),
		random("random letters", "abcdefghijklmnopqrstuvwxyz"),
		random("random mixed case", "abcdefghijklmABCDEFGHIJKLMé字"),
		random("random space", " \n\t\r"),
		random("random punctuation", "!@#$%^&*()-=+[]{};:',.<>/?|"),
		random("random ideographs", "的一是不了人我在有他这中大来上国字"),
		random("random cyrillic", "абвгдежзиклмнопрстуфхцчшщ"),
		{"base64", func(n int) string { return base64.StdEncoding.EncodeToString(randomBytes(n * 3 / 4)) }},
		{"hexadecimal", func(n int) string { return hex.EncodeToString(randomBytes(n / 2)) }},
		{"not UTF-8", func(n int) string { return string(randomBytes(n)) }},
		repeat("0xff", "\xff"),
	}
}
