// Command llm-server stands in for an LLM, so that strategies that need one can be tried without an API key. It
// speaks OpenAI's chat completions and Anthropic's messages. It answers a request for a summary with a state snapshot
// that it assembles from the request by simple rules: equal requests get equal answers.
//
//	go run ./examples/llm-server -addr 127.0.0.1:8089
//
// With -fault it fails in one of the ways in which providers fail. The protocols and the faults are in
// internal/testkit/llmtest; snapshot.go plays the model.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/internal/testkit/llmtest"
)

// main runs the server until Ctrl-C.
func main() {
	addr := flag.String("addr", "127.0.0.1:8089", "address to listen on")
	window := flag.Int("window", 128_000, "context window of the model in tokens; 0 for no limit")
	fault := flag.String("fault", "", "answer every request with this failure: "+faultNames())
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *addr, *window, *fault, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "llm-server:", err)
		os.Exit(1)
	}
}

// faults are the failures that -fault can select. Together they cover what a strategy and the host must survive:
// refusals, an answer that is cut off, one that is empty or not JSON, one that never ends and one that never begins.
var faults = map[string]llmtest.Reply{
	"rate-limit": llmtest.RateLimited(time.Second),
	"overloaded": llmtest.Overloaded(),
	"key":        llmtest.Fail(http.StatusUnauthorized),
	"cut":        {Fault: llmtest.FaultCut, Text: "<state_snapshot>\n<overall_goal>"},
	"empty":      {},
	"thinking":   {Thinking: "Let me see …"},
	"garbage":    {Fault: llmtest.FaultGarbage, Text: "<html>Welcome</html>"},
	"endless":    {Fault: llmtest.FaultEndless, Text: "and so on "},
	"hang":       {Fault: llmtest.FaultHang},
}

// faultNames lists the values of -fault.
func faultNames() string { return strings.Join(slices.Sorted(maps.Keys(faults)), ", ") }

// run serves until ctx is done. It logs each request to out.
func run(ctx context.Context, addr string, window int, fault string, out io.Writer) error {
	// "" is in no map, and means none.
	broken, fails := faults[fault]
	if fault != "" && !fails {
		return fmt.Errorf("unknown fault %q; want one of: %s", fault, faultNames())
	}
	// The handler speaks both protocols; only the text of an answer is decided here.
	handler := llmtest.NewHandler(llmtest.Options{ContextWindow: window, Reply: func(r llmtest.Request) llmtest.Reply {
		reply := broken
		if !fails {
			reply = answer(r)
		}
		fmt.Fprintf(out, "request %d: %s, model %s, %d tokens; answered with %d\n",
			r.Number, r.Kind, r.Model, r.InputTokens, llmtest.Tokens(reply.Text))
		return reply
	}})
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	// The settings that it prints need some limit, also for a model without one.
	limit := window
	if limit <= 0 {
		limit = 128_000
	}
	fmt.Fprintf(out, welcome, listener.Addr(), limit, min(8192, limit/4))
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	// Close, not Shutdown: a fault may hang for ever.
	stopped := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stopped()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// welcome explains how to use the server: %[1]s is its address, %[2]d the context window, %[3]d the output limit.
const welcome = `A stand-in for a model listens on http://%[1]s. Put this into a file, say llm.yaml:

  compression:
    strategy: middle-out        # or one-shot
    profile: local
  profiles:
    local:
      provider:
        kind: openai            # or anthropic, with baseURL http://%[1]s
        baseURL: http://%[1]s/v1
        model: stand-in
        contextLimit: %[2]d
        maxOutput: %[3]d

Then run: thresh --config llm.yaml llm check local
Press Ctrl-C to stop the server.

`
