// Package bpe counts the tokens of a piece of text by byte-pair encoding, exactly and in linear time.
//
// It is for package tokens, which splits a text into pieces first. Byte-pair encoding starts with the bytes of a piece
// and repeatedly merges the two adjacent parts whose merged token has the lowest rank. Done so, that takes quadratic
// time, and tool output is untrusted. Two facts help. Whether two adjacent tokens can be neighbours in a result depends
// on these two only. And exactly one sequence of tokens consists of such pairs: the result. So a search from the left
// finds it without merging anything (count.go). Searches from different places of a long piece are joined where they
// agree (parts.go). The idea is from GitHub's bpe crate.
//
// [Compile] turns a vocabulary into a compact form for embedding in a program (compile.go); [Load] makes it ready in a
// few milliseconds (table.go).
package bpe
