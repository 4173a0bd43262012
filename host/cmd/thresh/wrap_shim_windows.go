package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// A package of npm is started through a batch file on Windows, which hands its arguments to cmd.exe a second time: a
// prompt in several lines would end at the first, and % and " be read as cmd.exe reads them. So what the batch file
// starts is started instead.

// maxShim is how much of a batch file is read, in bytes. Those of npm have 300 or so.
const maxShim = 8 << 10

// shimTarget finds what a batch file of npm, pnpm or yarn starts: "%dp0%\node_modules\…\cli.js" before its arguments.
var shimTarget = regexp.MustCompile(`"%(?:~dp0|dp0%)\\?([^"\r\n]+)"\s+%\*`)

// shim returns the file that npm's batch file at path starts, and whether Node.js runs it; "" if it is another one.
func shim(path string) (target string, node bool) {
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	head := make([]byte, maxShim)
	n, _ := f.Read(head)
	m := shimTarget.FindSubmatch(head[:n])
	if m == nil {
		return "", false
	}
	target = filepath.Join(filepath.Dir(path), filepath.FromSlash(strings.ReplaceAll(string(m[1]), `\`, "/")))
	return target, !strings.EqualFold(filepath.Ext(target), ".exe")
}
