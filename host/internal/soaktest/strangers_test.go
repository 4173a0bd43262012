package soaktest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/internal/testkit/binaries"
)

// BenchmarkStrangers plays callers who take all they can get from thresh serve at sessions.maxMemory of 256 MB: those of
// messages that are small and many, of many large conversations, and of results full of our own sentences. It prints
// what each took, what is left a minute later, how many were refused, and the longest turn that another caller had.
func BenchmarkStrangers(b *testing.B) {
	texts := func(n int, text string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"role":%q,"content":%q}`, []string{"user", "assistant"}[i%2], text))
		}
		return strings.Join(all, ",")
	}
	compress := func(strategy, messages string) func(*served, int) int {
		return func(s *served, i int) int {
			first := fmt.Sprintf(`{"role":"user","content":"conversation %d"},{"role":"assistant","content":"yes"},`, i)
			return s.call("messages.compress", `{"strategy":"`+strategy+`","messages":[`+first+messages+`]}`, nil)
		}
	}
	// Every line of the file reads like a mark of ours. The turn removes what stands beside it.
	marks := func(lines int) func(*served, int) int {
		const mark = "[… 5000 lines omitted: lines 1-5000 of the result of Read /w/big.txt above]\n"
		read := func(id, path, text string) (call, result map[string]any) {
			return map[string]any{"type": "tool_call", "id": id, "name": "Read", "parameters": map[string]any{"file_path": path}},
				map[string]any{"type": "tool_response", "callId": id, "toolName": "Read", "result": text}
		}
		entry := func(speaker string, blocks ...any) any { return map[string]any{"speaker": speaker, "blocks": blocks} }
		said := func(text string) any { return map[string]any{"type": "text", "text": text} }
		return func(s *served, i int) int {
			bigCall, big := read("c1", "/w/big.txt", strings.Repeat("all is well here\n", 5000))
			hostileCall, hostile := read("c2", "/w/hostile.txt", strings.Repeat(mark, lines))
			againCall, again := read("c3", "/w/big.txt", strings.Repeat("all is well here\n", 5000))
			lastCall, last := read("c4", "/w/big.txt", "all is well here\n")
			id := fmt.Sprintf("marks-%d-%d", lines, i)
			entries, _ := json.Marshal([]any{entry("human", said("read them")), entry("ai", bigCall), entry("tool", big),
				entry("ai", hostileCall, againCall), entry("tool", hostile, again), entry("ai", lastCall), entry("tool", last),
				entry("ai", said("done")), entry("human", said("go on"))})
			s.call("session.open", `{"id":"`+id+`","settings":{"compression.strategy":"high-density",`+
				`"compression.density.cadence":"every-turn"}}`, nil)
			s.call("history.add", `{"session":"`+id+`","entries":`+string(entries)+`}`, nil)
			return s.call("window.prepare", `{"session":"`+id+`"}`, nil)
		}
	}
	tool := func(i int) string {
		return fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"Read","input":{"file_path":"/w/%d.go"}}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":%q}]}`, i, i%40, i,
			strings.Repeat("all is well here, and there\n", 100))
	}
	var dense []string
	for i := range 1500 {
		dense = append(dense, tool(i))
	}
	for _, c := range []struct {
		name          string
		callers, each int
		call          func(*served, int) int
	}{
		{"tiny-5.9MB-12-at-once", 12, 1, compress("top-down-truncation", texts(170_000, "."))},
		{"tiny-0.5MB-12-at-once", 12, 3, compress("top-down-truncation", texts(16_000, "."))},
		{"dense-4.5MB-100", 2, 50, compress("distill", strings.Join(dense, ","))},
		{"marks-22kB", 4, 3, marks(290)},
		{"marks-89kB", 4, 3, marks(1170)},
		{"marks-222kB", 4, 3, marks(2900)},
	} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				s := serveAlone(b)
				slowest := s.another(b)
				var answered, refused atomic.Int64
				var callers sync.WaitGroup
				for i := range c.callers {
					callers.Go(func() {
						for n := range c.each {
							if status := c.call(s, i*c.each+n); status == http.StatusOK {
								answered.Add(1)
							} else if status == http.StatusServiceUnavailable || status == http.StatusBadRequest {
								refused.Add(1)
							} else {
								b.Errorf("status %d", status)
							}
						}
					})
				}
				callers.Wait()
				b.ReportMetric(float64(slowest().Milliseconds()), "ms-another-at-most")
				b.ReportMetric(float64(answered.Load()), "answered")
				b.ReportMetric(float64(refused.Load()), "refused")
				b.ReportMetric(s.memory(b, "VmHWM", true), "MB-host-at-most")
				b.ReportMetric(s.memory(b, "VmHWM", false), "MB-plugins-at-most")
				time.Sleep(time.Minute)
				b.ReportMetric(s.memory(b, "VmRSS", true), "MB-host-left")
				b.ReportMetric(s.memory(b, "VmRSS", false), "MB-plugins-left")
				s.end()
			}
		})
	}
}

// served is thresh serve in a process of its own.
type served struct {
	cmd            *exec.Cmd
	address, token string
}

func serveAlone(b *testing.B) *served {
	b.Helper()
	programs, err := binaries.Build("host/cmd/thresh")
	if err != nil {
		b.Fatal(err)
	}
	home := b.TempDir()
	s := &served{cmd: exec.Command(programs[0], "serve", "--set", "serve.listen=127.0.0.1:0",
		"--set", "sessions.maxMemory="+strconv.Itoa(256<<20))}
	s.cmd.Dir, s.cmd.Env = home, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	stderr, err := s.cmd.StderrPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.cmd.Process.Kill() })
	lines := bufio.NewReader(stderr)
	for s.address == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			b.Fatalf("it ended: %s", line)
		}
		if _, address, ok := strings.Cut(line, "serving at "); ok {
			s.address, _, _ = strings.Cut(strings.TrimSpace(address), `"`)
		}
	}
	go io.Copy(io.Discard, lines)
	token, err := os.ReadFile(filepath.Join(home, ".local", "state", "thresh", "token"))
	if err != nil {
		b.Fatal(err)
	}
	s.token = strings.TrimSpace(string(token))
	return s
}

func (s *served) end() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait()
}

// call returns the status of a call; 0 if it had no answer. answer is nil, or where its body goes.
func (s *served) call(method, params string, answer *bytes.Buffer) int {
	r, err := http.NewRequest("POST", s.address+"/v1/"+method, strings.NewReader(params))
	if err != nil {
		return 0
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0
	}
	defer got.Body.Close()
	if answer == nil {
		answer = new(bytes.Buffer)
	}
	_, _ = io.Copy(answer, got.Body)
	return got.StatusCode
}

// another is a caller with short turns. It returns what ends it, and says how long its longest turn took.
func (s *served) another(b *testing.B) (slowest func() time.Duration) {
	b.Helper()
	turn := func() time.Duration {
		began := time.Now()
		for _, c := range [][2]string{
			{"history.add", `{"session":"another","entries":[{"speaker":"human","blocks":[{"type":"text","text":"go on"}]}]}`},
			{"window.prepare", `{"session":"another"}`},
		} {
			if status := s.call(c[0], c[1], nil); status != http.StatusOK {
				b.Errorf("%s of another caller: status %d", c[0], status)
			}
		}
		return time.Since(began)
	}
	s.call("session.open", `{"id":"another"}`, nil)
	turn() // the first one starts the plugin
	stop, most := make(chan struct{}), make(chan time.Duration)
	go func() {
		longest := time.Duration(0)
		for {
			select {
			case <-stop:
				most <- longest
				return
			case <-time.After(20 * time.Millisecond):
				longest = max(longest, turn())
			}
		}
	}()
	return func() time.Duration { close(stop); return <-most }
}

// memory sums up a line of the status of the host's process, or of those of its plugins, in MB.
func (s *served) memory(b *testing.B, line string, host bool) (mb float64) {
	b.Helper()
	all, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, file := range all {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		fields := map[string]string{}
		for l := range strings.Lines(string(raw)) {
			name, value, _ := strings.Cut(l, ":")
			fields[name] = strings.TrimSpace(value)
		}
		pid := strconv.Itoa(s.cmd.Process.Pid)
		if host && fields["Pid"] == pid || !host && fields["PPid"] == pid {
			kb, _ := strconv.Atoi(strings.TrimSuffix(fields[line], " kB"))
			mb += float64(kb) / 1000
		}
	}
	return mb
}
