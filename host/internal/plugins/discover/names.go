package discover

import "strings"

// FilePrefix begins the file name of every strategy plugin; the strategy's name follows.
const FilePrefix = "thresh-strategy-"

func FileName(strategy string) string { return FilePrefix + strategy }

// StrategyName returns the strategy's name in a plugin's file name.
func StrategyName(file string) (name string, ok bool) { return strings.CutPrefix(file, FilePrefix) }
