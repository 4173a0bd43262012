package main_test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/client"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
	"github.com/thresh-dev/thresh/sdk/content"
)

// cutting passes connections on to a service, and cuts the first one over which an Add is answered, before its client
// gets anything of the answer.
func cutting(t *testing.T, to string) (address string, cut *atomic.Bool) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	cut = &atomic.Bool{}
	pass := func(client net.Conn) {
		defer client.Close()
		host, err := net.Dial("tcp", to)
		if err != nil {
			return
		}
		defer host.Close()
		var asked atomic.Bool
		go func() {
			defer host.Close()
			part := make([]byte, 64<<10)
			for {
				n, err := client.Read(part)
				if bytes.Contains(part[:n], []byte("cut here")) {
					asked.Store(true)
				}
				if _, failed := host.Write(part[:n]); err != nil || failed != nil {
					return
				}
			}
		}()
		part := make([]byte, 64<<10)
		for {
			n, err := host.Read(part)
			if asked.Load() && answers(part[:n]) && !cut.Swap(true) {
				return
			}
			if _, failed := client.Write(part[:n]); err != nil || failed != nil {
				return
			}
		}
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go pass(c)
		}
	}()
	return "http://" + l.Addr().String(), cut
}

// answers reports whether a part of what a host sends begins an answer: HTTP/2 sends frames about the connection too.
func answers(part []byte) bool {
	for !bytes.HasPrefix(part, []byte("HTTP/1")) {
		const header, headers = 9, 1 // the size of a frame's header, and the type of the frame with those of an answer
		if len(part) < header {
			return false
		}
		if part[3] == headers {
			return true
		}
		size := header + int(part[0])<<16 + int(part[1])<<8 + int(part[2])
		part = part[min(size, len(part)):]
	}
	return true
}

// addsOnce are programs that add an entry to a session and print how many it has.
var addsOnce = map[string][]string{
	"python3": {"-c", `import sys
root, address, file = sys.argv[1:]
sys.path.insert(0, root + "/clients/python")
from thresh import Client
with Client(address, open(file).read().strip()) as c:
    s = c.open("python3")
    s.add({"speaker": "human", "blocks": [{"type": "text", "text": "cut here"}]})
    print(s.get().entries)`},
	"node": {"--input-type=module", "-e", `import { readFileSync } from "node:fs";
const [root, address, file] = process.argv.slice(1);
const { Client } = await import(root + "/clients/typescript/thresh.mjs");
const c = new Client(address, { token: readFileSync(file, "utf8").trim() });
const s = await c.open("node");
await s.add([{ speaker: "human", blocks: [{ type: "text", text: "cut here" }] }]);
console.log((await s.get()).entries);
c.disconnect();`},
}

// A client whose connection breaks after its Add has arrived makes it again by itself, and it takes place once.
func TestAnAddWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	s := newPlace(t).serveNetwork("--set", "serve.listen=127.0.0.1:0")
	to := strings.TrimPrefix(s.address, "http://")
	t.Run("go", func(t *testing.T) {
		address, cut := cutting(t, to)
		token, err := os.ReadFile(s.token)
		if err != nil {
			t.Fatal(err)
		}
		c, err := client.New(address, client.Options{Token: strings.TrimSpace(string(token))})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		session, err := c.Open(t.Context(), api.OpenRequest{ID: "go"})
		if err != nil {
			t.Fatal(err)
		}
		said := content.Content{Speaker: content.Human, Blocks: []content.Block{content.Text{Text: "cut here"}}}
		if _, err := session.Add(t.Context(), api.Entries(said)); err != nil {
			t.Error(err)
		}
		if got, err := session.State(t.Context()); err != nil || got.Entries != 1 || !cut.Load() {
			t.Errorf("%+v, %v, cut: %v", got, err, cut.Load())
		}
	})
	for program, args := range addsOnce {
		t.Run(program, func(t *testing.T) {
			if _, err := exec.LookPath(program); err != nil {
				t.Skipf("SKIPPED: %s is not installed, so its client is not tested", program)
			}
			address, cut := cutting(t, to)
			out, err := exec.Command(program, append(append([]string{}, args...), repo.Path(t), address, s.token)...).
				CombinedOutput()
			if err != nil || strings.TrimSpace(string(out)) != "1" || !cut.Load() {
				t.Errorf("%s, %v, cut: %v", out, err, cut.Load())
			}
		})
	}
}
