//go:build thresh_o200k

package tokens

func Encodings() []string { return []string{o200k} }

func older(string) (data string, split splitter) { return "", nil }
