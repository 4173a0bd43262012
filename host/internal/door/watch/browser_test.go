package watch

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// browser is a headless Chromium, driven over a pair of pipes with its debugging protocol.
type browser struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Reader
	id      int
	session string
	// asked are the addresses that the page loaded, and said what it wrote to the console, violations of its policy
	// among them.
	asked, said []string
}

// open starts a browser with an empty tab.
func open(t *testing.T) *browser {
	program := os.Getenv("CHROMIUM")
	if program == "" {
		t.Skip("SKIPPED: CHROMIUM does not name a browser: 'make test-ui' does")
	}
	theirs, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, answers, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
		"--user-data-dir="+t.TempDir())
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	cmd.ExtraFiles = []*os.File{theirs, answers}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = theirs.Close(), answers.Close()
	b := &browser{t: t, to: to, from: bufio.NewReader(from)}
	// It removes what it has written before it ends.
	t.Cleanup(func() { b.call("Browser.close", nil); _ = cmd.Wait(); to.Close(); from.Close() })
	var target struct{ TargetID string }
	b.get("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.get("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Network", "Log", "Runtime"} {
		b.call(domain+".enable", nil)
	}
	return b
}

// call calls a method and returns its result. Events that come before it are noted.
func (b *browser) call(method string, params any) json.RawMessage {
	b.t.Helper()
	b.id++
	message := map[string]any{"id": b.id, "method": method}
	if params != nil {
		message["params"] = params
	}
	if b.session != "" && method != "Browser.close" {
		message["sessionId"] = b.session
	}
	text, err := json.Marshal(message)
	if err == nil {
		_, err = b.to.Write(append(text, 0))
	}
	if err != nil {
		b.t.Fatal(err)
	}
	for {
		line, err := b.from.ReadBytes(0)
		if err != nil {
			if method != "Browser.close" {
				b.t.Fatalf("%s: %v", method, err)
			}
			return nil
		}
		var m struct {
			ID     int
			Method string
			Params struct {
				Request struct{ URL string }
				Entry   struct{ Text string }
			}
			Result json.RawMessage
			Error  struct{ Message string }
		}
		if err := json.Unmarshal(line[:len(line)-1], &m); err != nil {
			b.t.Fatal(err)
		}
		switch {
		case m.Method == "Network.requestWillBeSent":
			b.asked = append(b.asked, m.Params.Request.URL)
		case m.Method == "Log.entryAdded":
			b.said = append(b.said, m.Params.Entry.Text)
		case m.ID == b.id:
			if m.Error.Message != "" {
				b.t.Fatalf("%s: %s", method, m.Error.Message)
			}
			return m.Result
		}
	}
}

func (b *browser) get(method string, params, into any) {
	b.t.Helper()
	if err := json.Unmarshal(b.call(method, params), into); err != nil {
		b.t.Fatal(err)
	}
}

// eval returns the value of an expression as text.
func (b *browser) eval(expression string) string {
	b.t.Helper()
	var r struct{ Result struct{ Value any } }
	b.get("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	return fmt.Sprint(r.Result.Value)
}

// until waits until an expression is true.
func (b *browser) until(expression string) {
	b.t.Helper()
	for limit := time.Now().Add(30 * time.Second); b.eval(expression) != "true"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(limit) {
			b.t.Fatalf("never: %s\n%s", expression, b.eval("document.body.innerText"))
		}
	}
}

// The page shows sessions, turns and what was removed, at the width of a phone and of a desk, in light and dark. It
// asks no one but its server, and takes no recorded text for markup.
func TestThePageInABrowser(t *testing.T) {
	r := worked(t)
	s := httptest.NewServer(r.Before(http.NotFoundHandler(), "the-token"))
	defer s.Close()
	b := open(t)
	for _, width := range []int{400, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			b.call("Emulation.setDeviceMetricsOverride",
				map[string]any{"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 600})
			b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{
				map[string]string{"name": "prefers-color-scheme", "value": scheme}}})
			b.call("Page.navigate", map[string]any{"url": "about:blank"})
			b.call("Page.navigate", map[string]any{"url": s.URL + Page + "#the-token"})
			b.until(`document.querySelectorAll('#sessions tbody tr').length === 3`)
			b.eval(`document.querySelectorAll('#sessions button')[1].click()`)
			b.until(`document.querySelectorAll('#detail button').length === 2`)
			b.eval(`document.querySelector('#detail button').click()`)
			b.until(`document.querySelector('#detail pre')?.textContent === ` + quoted(hostile))
			for what, expression := range map[string]string{
				"nothing stands out of the page": `document.documentElement.scrollWidth <= innerWidth`,
				"the token left the address":     `location.hash === ''`,
				"the scheme is followed": `(getComputedStyle(document.body).backgroundColor === ` +
					`'rgb(255, 255, 255)') === ` + fmt.Sprint(scheme == "light"),
				"a fork stands below what it is of": `document.querySelectorAll('#sessions tbody tr')[2].innerText` +
					`.includes('└')`,
				"the reason of a change can be read": `document.querySelector('#detail').innerText` +
					`.includes('optimize: superseded-read, by e9')`,
			} {
				if b.eval(expression) != "true" {
					t.Errorf("%d px, %s: not so: %s", width, scheme, what)
				}
			}
			b.shot(fmt.Sprintf("%d-%s.png", width, scheme))
		}
	}
	// Without a token there is a page that asks for it, and no data.
	b.eval(`sessionStorage.clear()`)
	b.call("Page.navigate", map[string]any{"url": s.URL + Page})
	b.until(`!document.querySelector('#ask').hidden`)
	for _, url := range b.asked {
		if !strings.HasPrefix(url, s.URL+Page) && url != "about:blank" {
			t.Errorf("the page asked for %s", url)
		}
	}
	for _, text := range b.said {
		if !strings.Contains(text, "401") { // the request without a token
			t.Errorf("the browser says: %s", text)
		}
	}
}

func quoted(s string) string { text, _ := json.Marshal(s); return string(text) }

// shot keeps a picture of the page for people, in the directory that SCREENSHOTS names.
func (b *browser) shot(name string) {
	b.t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	var r struct{ Data string }
	b.get("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &r)
	picture, err := base64.StdEncoding.DecodeString(r.Data)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), picture, 0o600)
	}
	if err != nil {
		b.t.Error(err)
	}
}
