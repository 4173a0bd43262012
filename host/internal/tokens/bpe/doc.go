// Package bpe counts the tokens of a piece of text by byte-pair encoding, exactly and in linear time.
//
// It is for package tokens, which splits a text into pieces first. Byte-pair encoding starts with the bytes of a piece
// and merges two adjacent parts again and again, always those whose merged token has the lowest rank, until nothing can
// be merged. Done as described, that takes quadratic time, and tool output is untrusted. This package uses two facts
// instead. First, whether two adjacent tokens can stand side by side in a result depends on these two only. Second,
// exactly one sequence of tokens consists of such pairs, and it is the result. So a search from the left finds it,
// without merging anything (count.go). Searches that began in different places of a long piece are joined where they
// found the same (parts.go). The idea is that of GitHub's bpe crate.
//
// [Compile] turns a vocabulary into a compact form that can be embedded in a program (compile.go); [Load] makes it
// ready to use in a few milliseconds (table.go).
package bpe
