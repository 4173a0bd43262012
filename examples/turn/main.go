// Command turn is one turn of an agent, as README.md shows it.
package main

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/sdk/content"
)

func main() {
	host.ReexecMain()                                // first: strategies run as copies of this program
	h := must(host.Open(host.Options{Project: "."})) // reads thresh.yaml
	defer h.Close()
	ctx, blocks := context.Background(), []content.Block{content.Text{Text: "fix main.go"}}
	s := must(h.Open(ctx, api.OpenRequest{}))                                              // one conversation
	must(s.Add(ctx, api.Entries(content.Content{Speaker: content.Human, Blocks: blocks}))) // every message
	ready := must(s.Prepare(ctx, api.PrepareRequest{PendingTokens: 2000}))                 // before every model call
	fmt.Println("send", len(ready.History), "messages with", ready.Tokens, "tokens")
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
