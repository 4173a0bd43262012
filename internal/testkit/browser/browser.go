// Package browser shows pages in a real browser, for tests that look at what people see.
package browser

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Browser is a headless Chromium, driven over a pair of pipes with its debugging protocol. Its methods fail the test;
// none returns an error.
//
// The protocol is JSON with a zero byte behind each message: what is written goes to the browser's file 3, its answers
// come from file 4. One call is in progress at a time.
type Browser struct {
	t    *testing.T
	to   *os.File
	from *bufio.Reader
	// The number of the last call, by which its answer is known.
	id int
	// The tab. "" until there is one: calls are then of the browser as a whole.
	session string
	// Asked are the addresses that the page loaded, and Said what it wrote to the console, violations of its policy
	// among them.
	Asked, Said []string
}

// Open starts Chromium with an empty tab. It skips the test with -short, and where there is none (the Debian package
// chromium has it).
func Open(t *testing.T) *Browser {
	if testing.Short() {
		t.Skip("SKIPPED with -short")
	}
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("SKIPPED: Chromium is not installed: the page is not tested in a browser")
	}
	theirs, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, answers, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// No request but the page's own: a test that lists what a page asked for must see nothing else. --no-sandbox
	// because tests run in containers, as root.
	cmd := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
		"--user-data-dir="+t.TempDir())
	// It would write settings and caches there.
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	// These become files 3 and 4.
	cmd.ExtraFiles = []*os.File{theirs, answers}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// The copies of this process, so that reading ends when the browser does.
	_, _ = theirs.Close(), answers.Close()
	b := &Browser{t: t, to: to, from: bufio.NewReader(from)}
	// It removes what it has written before it ends.
	t.Cleanup(func() { b.call("Browser.close", nil); _ = cmd.Wait(); to.Close(); from.Close() })
	var target struct{ TargetID string }
	b.get("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.get("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	// Without these the browser sends no events.
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Network", "Log", "Runtime"} {
		b.call(domain+".enable", nil)
	}
	return b
}

// call calls a method and returns its result. Events that come before it are noted.
func (b *Browser) call(method string, params any) json.RawMessage {
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
	// Events come between a call and its answer, at any time.
	for {
		line, err := b.from.ReadBytes(0)
		// It may end before it answers that it will.
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
			b.Asked = append(b.Asked, m.Params.Request.URL)
		case m.Method == "Log.entryAdded":
			b.Said = append(b.Said, m.Params.Entry.Text)
		case m.ID == b.id:
			if m.Error.Message != "" {
				b.t.Fatalf("%s: %s", method, m.Error.Message)
			}
			return m.Result
		}
	}
}

// get is call with the result decoded.
func (b *Browser) get(method string, params, into any) {
	b.t.Helper()
	if err := json.Unmarshal(b.call(method, params), into); err != nil {
		b.t.Fatal(err)
	}
}

// Eval returns the value of an expression as text. A promise is waited for.
func (b *Browser) Eval(expression string) string {
	b.t.Helper()
	var r struct{ Result struct{ Value any } }
	b.get("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	return fmt.Sprint(r.Result.Value)
}

// Until waits until an expression is true. It asks again for 30 seconds at most, which is far above what a page needs
// on a loaded machine, and then fails with what the page shows.
func (b *Browser) Until(expression string) {
	b.t.Helper()
	for limit := time.Now().Add(30 * time.Second); b.Eval(expression) != "true"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(limit) {
			b.t.Fatalf("never: %s\n%s", expression, b.Eval("document.body.innerText"))
		}
	}
}

// Type types a text into what has the focus, and presses Enter.
func (b *Browser) Type(text string) {
	b.t.Helper()
	b.call("Input.insertText", map[string]any{"text": text})
	for _, kind := range []string{"keyDown", "keyUp"} {
		b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": "Enter", "code": "Enter", "text": "\r",
			"windowsVirtualKeyCode": 13})
	}
}

// Show opens an address at a width in pixels, in a color scheme: "light" or "dark".
func (b *Browser) Show(url string, width int, scheme string) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride",
		map[string]any{"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 600})
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{
		map[string]string{"name": "prefers-color-scheme", "value": scheme}}})
	b.Go("about:blank") // an address that differs in its fragment alone would not be loaded again
	b.Go(url)
}

// Go opens an address. It does not wait until the page is loaded: see [Browser.Until].
func (b *Browser) Go(url string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": url})
}

// Shot keeps a picture of the page for people, in the directory that SCREENSHOTS names. Without the variable it does
// nothing, so that tests call it in any case.
func (b *Browser) Shot(name string) {
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
