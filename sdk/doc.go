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
// cancellation, logging, and exiting when the host is gone. It compares the history that a strategy returns with the
// one that came. Entries and blocks that were kept are named in the answer instead of sent, and so keep their ids and
// token counts.
//
// For readers of the source: strategy.go is what an author implements and returns; contract_alias.go and
// content_alias.go offer the shared vocabulary under this package's name. serve.go starts the server; byhand.go and
// attach.go are for people who start a plugin themselves; end.go notices that the host is gone. service*.go serve the
// calls, history.go keeps what came with one, host.go and hostconn.go call the host back, intercept.go turns panics and
// errors into statuses, log.go writes the host's log. Messages are converted in internal/wire.
package sdk
