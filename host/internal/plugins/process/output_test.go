package process

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/internal/text"
)

// logged is what a logger writes while f runs, without times.
func logged(f func(hclog.Logger)) string {
	var b bytes.Buffer
	f(hclog.New(&hclog.LoggerOptions{Output: &b, Level: hclog.Debug, DisableTime: true}))
	return b.String()
}

// quiet is a logger of a plugin's lines that logs nothing.
func quiet() lineLogger {
	return lineLogger{log: hclog.NewNullLogger(), quota: newLogQuota(hclog.NewNullLogger(), time.Now)}
}

func TestLinesOfAPluginInTheLog(t *testing.T) {
	tests := map[string]struct{ line, want string }{
		"plain":              {"hello", "[DEBUG] hello\n"},
		"level":              {`{"@level":"warn","@message":"careful","b":1,"a":"x","@timestamp":"now"}`, "[WARN]  careful: a=x b=1\n"},
		"below the level":    {`{"@level":"trace","@message":"too much"}`, ""},
		"message is no text": {`{"@level":"warn","@message":1}`, "[DEBUG] {\"@level\":\"warn\",\"@message\":1}\n"},
		"level is no text":   {`{"@level":[],"@message":"x"}`, "[DEBUG] {\"@level\":[],\"@message\":\"x\"}\n"},
		"other JSON":         {`{"a":1}`, "[DEBUG] {\"a\":1}\n"},
		"panic":              {"panic: oh", "[ERROR] panic: oh\n"},
		"forged lines": {`{"@level":"error","@message":"a\n[ERROR] b","k\n[ERROR] c":"v\r\u001b[2J","pid":1}`,
			"[ERROR] a [ERROR] b: k_[ERROR]_c=\"v \ufffd[2J\" plugin.pid=1\n"},
		"list":                {`{"@level":"error","@message":"a","k":["\n",{"b":"\u009b"}]}`, "[ERROR] a: k=\"[\\\"\\n\\\",{\\\"b\\\":\\\"\ufffd\\\"}]\"\n"},
		"panic with escapes":  {"panic: \x1b]0;x\a\rback", "[ERROR] panic: \ufffd]0;x\ufffd back\n"},
		"empty":               {"", ""},
		"not UTF-8":           {"a\xff", "[DEBUG] a�\n"},
		"switching log off":   {`{"@level":"off","@message":"x"}`, "[DEBUG] {\"@level\":\"off\",\"@message\":\"x\"}\n"},
		"timestamp no string": {`{"@level":"info","@message":"x","@timestamp":5}`, "[INFO]  x\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := logged(func(log hclog.Logger) {
				l := lineLogger{log: log, quota: newLogQuota(log, time.Now)}
				l.line([]byte(test.line))
			})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLinesAreCutAndNothingBlocks(t *testing.T) {
	in := "short\n" + strings.Repeat("x", 100) + "\r\nlast"
	for name, r := range map[string]io.Reader{"at once": strings.NewReader(in), "byte by byte": iotest.OneByteReader(strings.NewReader(in))} {
		t.Run(name, func(t *testing.T) {
			var got []string
			eachLine(r, 16, func(line []byte) { got = append(got, string(line)) })
			if diff := cmp.Diff([]string{"short", strings.Repeat("x", 16), "last"}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var got tail
	var want strings.Builder
	for i := range 5000 {
		line := strings.Repeat("x", i%50) + "\n"
		want.WriteString(line)
		_, _ = got.Write([]byte(line))
	}
	if diff := cmp.Diff(want.String()[want.Len()-tailBytes:], got.String()); diff != "" {
		t.Error(diff)
	}
	_, _ = got.Write(bytes.Repeat([]byte("y"), 10*tailBytes))
	if got.String() != strings.Repeat("y", tailBytes) {
		t.Error("one large write is not cut to its end")
	}
}

func TestHandshakeIsFoundInNoise(t *testing.T) {
	const line = "1|1|unix|/run/x|grpc|"
	tests := map[string]struct {
		out   string
		want  string
		noise []string
	}{
		"clean":        {line + "\n", line + "\n", nil},
		"after noise":  {"loading | wait\n\n1|1|x\n" + line + "\nlater\n", line + "\n", []string{"loading | wait", "1|1|x"}},
		"never":        {"a\nb\nc\nd\n", "", []string{"a", "b", "c"}},
		"twice":        {line + "\n2|2|tcp|y\n", line + "\n", nil},
		"no line end":  {line, line + "\n", nil},
		"CRLF":         {line + "\r\n", line + "\n", nil},
		"endless line": {strings.Repeat("x", 1<<20), "", []string{strings.Repeat("x", keptNoiseLine) + text.Ellipsis}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHandshake()
			done := make(chan struct{})
			go func() {
				defer close(done)
				h.read(strings.NewReader(test.out), quiet())
			}()
			got, err := io.ReadAll(h.forGoPlugin())
			<-done
			if err != nil || string(got) != test.want || h.complete() != (test.want != "") {
				t.Errorf("go-plugin reads %q, %v; complete: %v", got, err, h.complete())
			}
			if diff := cmp.Diff(test.noise, h.noise); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What a plugin writes is a stranger's: no byte of it may end the host, or get a control character on a user's
// terminal.
func FuzzOutput(f *testing.F) {
	f.Add([]byte("1|1|unix|/x|grpc|\nnoise\n"))
	f.Add([]byte(`{"@level":"warn","@message":{"a":[1]},"x":null}` + "\n\x1b[2Jpanic: no\n"))
	f.Fuzz(func(t *testing.T, out []byte) {
		h := newHandshake()
		go func() { _, _ = io.Copy(io.Discard, h.forGoPlugin()) }()
		h.read(bytes.NewReader(out), quiet())
		shown := logged(func(log hclog.Logger) {
			l := lineLogger{log: log, quota: newLogQuota(log, time.Now)}
			eachLine(bytes.NewReader(out), maxLogLine, l.line)
		})
		for line := range strings.Lines(shown) {
			body, complete := strings.CutSuffix(line, "\n")
			if !complete || !strings.HasPrefix(body, "[") || strings.ContainsFunc(body, unicode.IsControl) {
				t.Errorf("logged: %q", line)
			}
		}
		if in := bytes.Count(out, []byte("\n")) + 1; strings.Count(shown, "\n") > in {
			t.Errorf("%d lines made more log lines: %q", in, shown)
		}
		var end tail
		_, _ = end.Write(out)
		if shown := text.Lines(end.String(), maxLogLine); strings.ContainsFunc(shown, func(r rune) bool { return r < ' ' && r != '\n' }) {
			t.Errorf("%q", shown)
		}
	})
}

// A process that logs without end adds a bounded amount to the log, and the log says how much is missing.
func TestAFloodOfLogLinesIsDroppedAndCounted(t *testing.T) {
	now := time.Unix(0, 0)
	line := []byte(`{"@level":"error","@message":"` + strings.Repeat("x", 70) + `"}`)
	const sent = 100_000
	shown := logged(func(log hclog.Logger) {
		l := lineLogger{log: log, quota: newLogQuota(log, func() time.Time { return now })}
		for range sent {
			l.line(line)
		}
		now = now.Add(time.Second)
		l.line(line)
		l.quota.finish()
	})
	kept := strings.Count(shown, "[ERROR]")
	if kept != logBurstLines+1 {
		t.Errorf("%d lines were logged, want %d at once and one after a second", kept, logBurstLines)
	}
	dropped := 0
	for _, m := range regexp.MustCompile(`lines were dropped: lines=(\d+)`).FindAllStringSubmatch(shown, -1) {
		n, _ := strconv.Atoi(m[1])
		dropped += n
	}
	if dropped+kept != sent+1 {
		t.Errorf("%d lines are counted as dropped and %d were logged, of %d", dropped, kept, sent+1)
	}
}
