package process

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

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

func TestLinesOfAPluginInTheLog(t *testing.T) {
	tests := map[string]struct{ line, want string }{
		"plain":               {"hello", "[DEBUG] hello\n"},
		"level":               {`{"@level":"warn","@message":"careful","b":1,"a":"x","@timestamp":"now"}`, "[WARN]  careful: a=x b=1\n"},
		"below the level":     {`{"@level":"trace","@message":"too much"}`, ""},
		"message is no text":  {`{"@level":"warn","@message":1}`, "[DEBUG] {\"@level\":\"warn\",\"@message\":1}\n"},
		"level is no text":    {`{"@level":[],"@message":"x"}`, "[DEBUG] {\"@level\":[],\"@message\":\"x\"}\n"},
		"other JSON":          {`{"a":1}`, "[DEBUG] {\"a\":1}\n"},
		"panic":               {"panic: oh", "[ERROR] panic: oh\n"},
		"empty":               {"", ""},
		"not UTF-8":           {"a\xff", "[DEBUG] a�\n"},
		"switching log off":   {`{"@level":"off","@message":"x"}`, "[DEBUG] {\"@level\":\"off\",\"@message\":\"x\"}\n"},
		"timestamp no string": {`{"@level":"info","@message":"x","@timestamp":5}`, "[INFO]  x\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := logged(func(log hclog.Logger) {
				l := lineLogger{log: log}
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
		"endless line": {strings.Repeat("x", 1<<20), "", []string{strings.Repeat("x", keptNoiseLine)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHandshake()
			done := make(chan struct{})
			go func() {
				defer close(done)
				h.read(strings.NewReader(test.out), hclog.NewNullLogger())
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
		h.read(bytes.NewReader(out), hclog.NewNullLogger())
		logged(func(log hclog.Logger) {
			l := lineLogger{log: log}
			eachLine(bytes.NewReader(out), maxLogLine, l.line)
		})
		var end tail
		_, _ = end.Write(out)
		if shown := text.Lines(end.String(), maxLogLine); strings.ContainsFunc(shown, func(r rune) bool { return r < ' ' && r != '\n' }) {
			t.Errorf("%q", shown)
		}
	})
}
