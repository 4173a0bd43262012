package discover

import "strings"

// FilePrefix begins the file name of every strategy plugin; the strategy's name follows.
const FilePrefix = "thresh-strategy-"

// FileName is the name of the file that holds the strategy.
func FileName(strategy string) string { return FilePrefix + strategy }

// StrategyName is the strategy's name in a plugin's file name, and whether that is the file name of a plugin.
func StrategyName(file string) (name string, ok bool) { return strings.CutPrefix(file, FilePrefix) }
