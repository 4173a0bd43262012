package main_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// What a provider answers beyond its protocol, and what a client says of itself, is never printed as it is: in the line
// and the warnings of thresh wrap and in thresh top, a terminal would do what it says.
func TestWhatAProviderSendsIsNotPrintedRaw(t *testing.T) {
	t.Parallel()
	const evil = "\x1b]0;title\x07\x1b[2J\u009b31m\r"
	inJSON := strings.NewReplacer("EVIL", `\u001b]0;title\u0007\u001b[2J\u009b31m\r`).Replace
	whole := func(status, body string) string {
		return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", status, len(body),
			body)
	}
	answers := []string{
		"HTTP/1.1 200 OK\r\nwhat is no header: " + evil + "\n" + evil + "\r\n\r\n", // first: it is logged once a minute
		whole("200 OK "+evil, inJSON(`{"model":"EVIL","content":[],"usage":{"input_tokens":12,"EVIL":1,`+
			`"cache_read_input_tokens":4}}`)),
		whole("200 OK", inJSON(`{"model":"m","content":[],"usage":{"input_tokens":"EVIL","output_tokens":1e300}}`)),
		whole("400 "+evil, inJSON(`{"type":"error","error":{"type":"EVIL","message":"prompt is too long: 9 tokens > `+
			`5 maximum EVIL"}}`)),
		whole("529 "+evil, evil),
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/event-stream\r\n\r\n" + evil + "\r\n",
		evil,
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for _, answer := range answers {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
			}
			_, _ = io.WriteString(c, answer)
			_ = c.Close()
		}
		_ = listener.Close()
	}()
	up := &modelapi.Server{Server: &httptest.Server{URL: "http://" + listener.Addr().String()}}
	p := newPlace(t)
	a := p.printing(up, "--set", "log.level=debug")
	body := inJSON(strings.Replace(hello, `"m"`, `"EVIL"`, 1))
	for range answers {
		res, err := http.Post(a.url+"/v1/messages", "application/json", strings.NewReader(body))
		if err == nil { // some answers break off
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
	}
	top := p.beside("top") // the proxy goes on meanwhile
	says := a.interrupt()
	for what, text := range map[string]string{"wrap": says, "top": top} {
		if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) && r != '\n' }); i >= 0 {
			t.Errorf("%s prints %q", what, text[max(i-80, 0):i+1])
		}
	}
	if !strings.Contains(says, "7 requests") || !strings.Contains(top, "1 session") {
		t.Errorf("%s\n%s", says, top)
	}
}
