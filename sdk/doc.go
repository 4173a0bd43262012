// Package sdk is for authors of strategies: programs that keep an agent's conversation history below its context limit.
//
// A strategy is a type with two methods, Info and Compress, and a main that hands it to [Serve]. This is a whole one:
//
//	package main
//
//	import (
//		"context"
//
//		"github.com/thresh-dev/thresh/sdk"
//		"github.com/thresh-dev/thresh/sdk/turns"
//	)
//
//	// keepLast drops all but the last 50 entries when the history is over the threshold.
//	type keepLast struct{}
//
//	func (keepLast) Info() sdk.Info {
//		return sdk.Info{Name: "keep-last", Version: "0.1.0", Trigger: sdk.Threshold(0.85)}
//	}
//
//	func (keepLast) Compress(_ context.Context, _ sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
//		kept := turns.KeepLast(in.History, 50)
//		if len(kept) == len(in.History) {
//			return sdk.NoOp(sdk.NoOpTailCoversAll), nil
//		}
//		over := float64(in.TokensOf(kept)) > in.Target()
//		return sdk.Applied(kept, sdk.CompressMetadata{BottomPreserved: new(len(kept)), TargetMissed: over}), nil
//	}
//
//	func main() { sdk.Serve(keepLast{}) }
//
// Build it as thresh-strategy-keep-last, put it into a plugin directory, and choose it with compression.strategy.
//
// A strategy whose trigger is [Continuous] also has Optimize ([Optimizer]), which runs before every threshold check and
// returns edits instead of a history. Start with [Strategy] and [CompressInput]; [Host] is what a strategy can ask for.
// The helpers are in sdk/turns (which entries belong together) and sdk/tools (what a tool call reads and writes);
// sdk/sdktest tests a strategy without a host.
//
// The package does the rest: the handshake, streams, protobuf, panics (which fail one call, not the process),
// cancellation, logging, and exiting when the host is gone. It compares the returned history with the one that came:
// the answer names kept entries and blocks instead of sending them, so they keep their ids and token counts.
//
// The source: strategy.go is what an author implements; serve.go starts the server, byhand.go and attach.go are for
// people who start a plugin themselves; service*.go serve the calls, mirror*.go hold histories between them, host*.go
// call the host back. Messages are converted in internal/wire.
package sdk
