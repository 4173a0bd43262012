package proxy_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/internal/testkit/race"
)

// echo is a provider that takes anything: it keeps what arrives, and its answer is what the test says.
type echo struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
	answer func(w http.ResponseWriter)
}

func newEcho(t *testing.T) *echo {
	e := &echo{answer: func(w http.ResponseWriter) { _, _ = io.WriteString(w, "{}") }}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		e.mu.Lock()
		defer e.mu.Unlock()
		if err == nil {
			e.bodies = append(e.bodies, brief(body))
		}
		e.answer(w)
	}))
	t.Cleanup(e.Close)
	return e
}

// brief keeps long bodies readable in failures: their length and their beginning.
func brief(b []byte) string { return fmt.Sprintf("%d:%.200s", len(b), b) }

// take returns what arrived since the last call.
func (e *echo) take() (all []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	all, e.bodies = e.bodies, nil
	return all
}

func zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.String()
}

// Whatever a client sends, its own bytes go out once, or it gets an error and nothing goes out.
func TestAHostileClient(t *testing.T) {
	race.Skip(t)
	up := newEcho(t)
	p := stand(t, up.URL, nil)
	f := messagesForm{"s"}
	whole := string(f.body([]rawItem{f.user("x")}))
	sized := func(body string, headers ...string) string {
		return fmt.Sprintf("POST /v1/messages HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n%s",
			strings.Join(headers, ""), len(body), body)
	}
	chunked := "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
	chunks := fmt.Sprintf("%x\r\n%s\r\n0\r\n", len(whole), whole)
	large := strings.Repeat(" ", 64<<20) + whole
	second := "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nbad"
	for name, tt := range map[string]struct {
		request string
		want    string // what goes out; "" is nothing
		status  int
	}{
		"a plain request":            {sized(whole), whole, 200},
		"chunks":                     {chunked + "\r\n" + chunks + "\r\n", whole, 200},
		"chunks with a trailer":      {chunked + "Trailer: X-Late\r\n\r\n" + chunks + "X-Late: 1\r\n\r\n", whole, 200},
		"a length and chunks":        {chunked + "Content-Length: 3\r\n\r\n" + chunks + "\r\n", whole, 200},
		"two lengths":                {strings.Replace(sized(whole), "Content-Length", "Content-Length: 1\r\nContent-Length", 1), "", 400},
		"an unknown encoding":        {strings.Replace(chunked, "chunked", "chunked, gzip", 1) + "\r\n" + chunks + second, "", 501},
		"a space in a header's name": {sized(whole, "X-A : 1\r\n"), "", 400},
		"a line break in a header":   {sized(whole, "X-A: 1\n \tX-B: 2\r\n"), whole, 200},
		"headers of 2 MB":            {sized(whole, "X-A: "+strings.Repeat("a", 2<<20)+"\r\n"), "", 431},
		"a zipped body":              {sized(zipped(whole), "Content-Encoding: gzip\r\n"), zipped(whole), 200},
		"a body that says zstd":      {sized(whole, "Content-Encoding: zstd\r\n"), whole, 200},
		"no JSON":                    {sized("{]"), "{]", 200},
		"nothing":                    {sized(""), "", 200},
		"bytes that are no UTF-8":    {sized("{\"a\":\"\xff\"}"), "{\"a\":\"\xff\"}", 200},
		"deep":                       {sized(strings.Repeat("[", 1<<20)), strings.Repeat("[", 1<<20), 200},
		"deep in a call": {sized(strings.Replace(whole, `"x"`, strings.Repeat(`{"a":`, 5000)+"1"+strings.Repeat("}", 5000), 1)),
			strings.Replace(whole, `"x"`, strings.Repeat(`{"a":`, 5000)+"1"+strings.Repeat("}", 5000), 1), 200},
		"a field twice":                                {sized(whole[:len(whole)-1] + `,"messages":[]}`), whole[:len(whole)-1] + `,"messages":[]}`, 200},
		"more than is edited":                          {sized(large), large, 200},
		"half a body":                                  {sized(whole)[:len(sized(whole))-5], "", 0},
		"half a chunk":                                 {chunked + "\r\nffff\r\nabc", "", 0},
		"a chunk of -1":                                {chunked + "\r\n-1\r\n" + whole, "", 400},
		"a trailer that is none":                       {chunked + "\r\n" + chunks + "late\r\n\r\n", "", 400},
		"a broken body that is only passed":            {strings.Replace(chunked, "messages", "files", 1) + "\r\n-1\r\n", "", 400},
		"a path out of the upstream":                   {strings.Replace(sized(whole), "/v1/", "/v1/../v1/", 1), "", 400},
		"an escaped slash behind a part for the proxy": {strings.Replace(sized(whole), "/v1/", "/p/%2Fv1/", 1), whole, 200},
		"the same with an escaped slash":               {strings.Replace(sized(whole), "/v1/", "/v1/..%2Fv1/", 1), "", 400},
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		// A server may answer, and close, before it has read all.
		_, _ = io.WriteString(conn, tt.request)
		if tt.status == 0 {
			_ = conn.(*net.TCPConn).CloseWrite()
		}
		status := 0
		if res, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
			status = res.StatusCode
		}
		conn.Close()
		got := up.take()
		if tt.status != 0 && status != tt.status || tt.status == 0 && status == http.StatusOK {
			t.Errorf("%s: status %d, want %d", name, status, tt.status)
		}
		switch {
		case tt.want == "" && tt.status != 200 && len(got) > 0:
			t.Errorf("%s: %q went out", name, got)
		case tt.status == 200 && (len(got) != 1 || got[0] != brief([]byte(tt.want))):
			t.Errorf("%s: %q went out, want %q once", name, got, brief([]byte(tt.want)))
		}
	}
}

// A client that stops in the middle of its body, or sends it too slowly, is told so, and does not hold what it takes in
// memory; not where its body is only passed on either. Meanwhile requests that find no memory go out as they came.
func TestASlowClient(t *testing.T) {
	up := newEcho(t)
	p := stand(t, up.URL, nil)
	p.proxy.SetPatience(time.Millisecond)
	begin := func(p *standing, path string, length int) net.Conn {
		conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: k\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n",
			path, length)
		// It is asked for its body when that is waited for.
		if res, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || res.StatusCode != http.StatusContinue {
			t.Fatalf("%+v, %v", res, err)
		}
		return conn
	}
	for range 4 { // all of the memory
		begin(p, "/v1/messages", 64<<20)
	}
	f := messagesForm{"s"}
	whole := f.body([]rawItem{f.user("x")})
	status, _, err := post(p.url+f.path(), f.header(), whole)
	if got := up.take(); err != nil || status != http.StatusOK || len(got) != 1 || got[0] != brief(whole) ||
		p.proxy.Totals().Passed["busy"] != 1 {
		t.Errorf("without memory: %d, %v; %q went out; %+v", status, err, got, p.proxy.Totals())
	}
	strict := stand(t, up.URL, nil)
	strict.proxy.SetReadIdle(100 * time.Millisecond)
	dribbling := begin(strict, "/v1/messages", 1000)
	go func() { // never silent for long
		for range 1000 {
			if _, err := dribbling.Write([]byte("{")); err != nil {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	for i, conn := range []net.Conn{dribbling, begin(strict, "/v1/messages", 99), begin(strict, "/v1/files", 99)} {
		// Where the body is passed on, the connection may be closed before there is an answer.
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err == nil && res.StatusCode != http.StatusRequestTimeout || err != nil && i < 2 {
			t.Errorf("%d: %+v, %v", i, res, err)
		}
	}
	if got := up.take(); len(got) > 0 {
		t.Errorf("%q went out", got)
	}
}

// Whatever a provider answers reaches the client as it is, or the client sees that something is wrong.
func TestAHostileProvider(t *testing.T) {
	up := newEcho(t)
	p := stand(t, up.URL, nil)
	f := messagesForm{"s"}
	raw := func(answer string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_, _ = io.WriteString(conn, answer)
				conn.Close()
			}
		}
	}
	headers := func(h string) string { return "HTTP/1.1 200 OK\r\nConnection: close\r\n" + h + "\r\n" }
	// Longer than an event and an answer may be whose usage is read.
	line, answer := "data: "+strings.Repeat("a", 9<<20), strings.Repeat("b", 33<<20)
	bomb := zipped(answer)
	usage := "data: {\"usage\":{\"input_tokens\":9223372036854775807,\"output_tokens\":-4}}\n\n"
	for name, tt := range map[string]struct {
		answer string
		status int
		body   string // what arrives
		broken bool
	}{
		"not gzip":         {headers("Content-Encoding: gzip\r\nContent-Type: application/json\r\n") + "{}", 200, "{}", false},
		"zstd":             {headers("Content-Encoding: zstd\r\nContent-Type: text/event-stream\r\n") + "\x28\xb5\x2f", 200, "\x28\xb5\x2f", false},
		"zipped bomb":      {headers("Content-Encoding: gzip\r\n") + bomb, 200, bomb, false},
		"events cut short": {headers("Content-Type: text/event-stream\r\nContent-Length: 99\r\n") + usage, 200, usage, true},
		"a chunk cut short": {headers("Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n") + "ff\r\ndata",
			200, "data", true},
		"a trailer": {headers("Transfer-Encoding: chunked\r\nTrailer: X-Late\r\n") + "2\r\n{}\r\n0\r\nX-Late: 1\r\n\r\n",
			200, "{}", false},
		"numbers that are none": {headers("Content-Type: text/event-stream\r\n") + usage, 200, usage, false},
		"a line of 9 MB":        {headers("Content-Type: text/event-stream\r\n") + line, 200, line, false},
		"an answer of 33 MB":    {headers("Content-Type: application/json\r\n") + answer, 200, answer, false},
		"two lengths":           {headers("Content-Length: 1\r\nContent-Length: 2\r\n") + "{}", 502, "", false},
		"headers of 11 MB":      {headers("X-A: "+strings.Repeat("a", 11<<20)+"\r\n") + "{}", 502, "", false},
		"no HTTP":               {"SSH-2.0\r\n\r\n", 502, "", false},
		"nothing":               {"", 502, "", false},
	} {
		up.answer = raw(tt.answer)
		req, _ := http.NewRequest(http.MethodPost, p.url+f.path(), bytes.NewReader(f.body([]rawItem{f.user("x")})))
		req.Header = f.header()
		req.Header.Set("Accept-Encoding", "gzip") // so that this client decodes nothing
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != tt.status || (err != nil) != tt.broken || tt.status == 200 && string(body) != tt.body {
			t.Errorf("%s: %d, %q, %v", name, res.StatusCode, brief(body), err)
		}
		if tt.status == 502 && !strings.Contains(string(body), `"type":"error"`) {
			t.Errorf("%s: not an error of the API: %.200s", name, body)
		}
		if name == "a trailer" && res.Trailer.Get("X-Late") != "1" {
			t.Errorf("trailer %v", res.Trailer)
		}
	}
	up.take()
	if got := p.proxy.Totals().Usage; got.Prompt()+got.Output > 0 {
		t.Errorf("reported: %+v", got)
	}
	// Events pass wherever they are cut.
	for at := range len(usage) {
		up.answer = func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, usage[:at])
			_ = http.NewResponseController(w).Flush()
			_, _ = io.WriteString(w, usage[at:])
		}
		if _, got, err := post(p.url+f.path(), f.header(), f.body([]rawItem{f.user("x")})); err != nil || string(got) != usage {
			t.Fatalf("cut at %d: %q, %v", at, got, err)
		}
	}
}
