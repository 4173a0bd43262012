// Package sdk is for authors of strategies: programs that keep an agent's conversation history below its context limit.
//
// A strategy is a type with two methods, Info and Compress, and a main that hands it to sdk/serve. This is a whole one:
//
//	package main
//
//	import (
//		"context"
//
//		"github.com/thresh-dev/thresh/sdk"
//		"github.com/thresh-dev/thresh/sdk/serve"
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
//	func (keepLast) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
//		kept := turns.KeepLast(in.History, 50)
//		if len(kept) == len(in.History) {
//			return sdk.NoOp(sdk.NoOpTailCoversAll), nil
//		}
//		fits, err := in.Fits(ctx, host, kept)
//		return sdk.Applied(kept, sdk.CompressMetadata{BottomPreserved: new(len(kept)), TargetMissed: !fits}), err
//	}
//
//	func main() { serve.Strategy(keepLast{}) }
//
// Build it as thresh-strategy-keep-last, put it into a plugin directory, and choose it with compression.strategy.
//
// A strategy whose trigger is [Continuous] also has Optimize ([Optimizer]), which runs before every threshold check and
// returns edits instead of a history. Start with [Strategy] and [CompressInput]; [Host] is what a strategy can ask for.
// The helpers are in sdk/turns (which entries belong together) and sdk/tools (what a tool call reads and writes);
// sdk/sdktest tests a strategy without a host.
//
// The types are what host and strategy exchange, in the host too. Package serve does the rest: the handshake, streams,
// protobuf, panics, cancellation, logging, and exiting when the host is gone.
package sdk
