package discover

import "strings"

// FilePrefix begins the file name of every strategy plugin; the strategy's name follows, and on Windows ".exe".
const FilePrefix = "thresh-strategy-"

func FileName(strategy string) string { return FilePrefix + strategy + suffix }

// StrategyName returns the strategy's name in a plugin's file name.
func StrategyName(file string) (name string, ok bool) {
	if name, ok = strings.CutPrefix(file, FilePrefix); !ok {
		return "", false
	}
	if at := len(name) - len(suffix); at >= 0 && strings.EqualFold(name[at:], suffix) {
		return name[:at], true
	}
	return "", false
}
