// Command llm-server stands in for a model provider, so that strategies that need a model can be tried without a key
// and without cost, also when the provider fails. What it prints are settings for thresh, and its requests as comments.
package main

import (
	"flag"
	"fmt"
	"log"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

const settings = `compression:
  strategy: middle-out        # or one-shot
  profile: local
profiles:
  local:
    provider:
      kind: openai            # or anthropic, with a baseURL without /v1
      baseURL: http://%s/v1
      model: stand-in
      contextLimit: 128000
      maxOutput: 8192
`

const summary = `<state_snapshot>
<overall_goal>A model would write here what the user wants. This is a stand-in, and the same each time.</overall_goal>
<current_progress>What was done, decided and found would stand here.</current_progress>
</state_snapshot>`

var faults = map[string]modelapi.Reply{
	"rate-limit": modelapi.RateLimited(time.Second), "overloaded": modelapi.Fail(529), "key": modelapi.Fail(401),
	"garbage": {Fault: modelapi.FaultGarbage, Text: "<html>Welcome</html>"}, "hang": {Fault: modelapi.FaultHang},
	"cut": {Fault: modelapi.FaultCut, Text: "<state_snapshot>"}, "empty": {},
	"endless": {Fault: modelapi.FaultEndless, Text: "and so on "},
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8089", "`address` to listen on")
	fault := flag.String("fault", "", fmt.Sprint("how every request fails, one of ", slices.Sorted(maps.Keys(faults))))
	flag.Parse()
	fails, known := faults[*fault]
	if !known && *fault != "" {
		log.Fatalf("-fault is %q; want one of %v", *fault, slices.Sorted(maps.Keys(faults)))
	}
	fmt.Printf(settings, *addr)
	reply := func(r *modelapi.Request) modelapi.Reply {
		fmt.Printf("# request %d: %s, %d bytes\n", r.Number, r.Path, len(r.Body))
		switch {
		case known:
			return fails
		case r.Compacts:
			return modelapi.Reply{Text: summary}
		}
		return modelapi.Reply{Text: "ok"}
	}
	log.Fatal(http.ListenAndServe(*addr, modelapi.NewHandler(modelapi.Options{ContextLimit: 128_000, Reply: reply})))
}
