package sdktest

import (
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/sdk"
)

// remembers has a copy that had no call compress two histories, a few times each: what a Compress left must not matter to
// the next. It comes before other Compress of those histories, because copies share package variables.
func (r *run) remembers() {
	s := r.unused()
	for _, sample := range []samples.Sample{samples.Mixed(samples.Matters(), 4), samples.Mixed(samples.Matters(), 5)} {
		ask := func(session string) conform.Compressed { return r.compress(s, session, sample.History, r.c) }
		first, second := ask("a"), ask("b")
		same := func() bool { return ask("a") == second }
		// Unlike an Optimize, a Compress may answer at random: then the answers go on to differ.
		if first != second && same() && same() && same() && same() && same() {
			r.complain(sample.Name, refused("Compress", first.Different(conform.ErrKept, second, "the first call, then the next")))
		}
	}
}

// compress is one Compress that is compared with another.
func (r *run) compress(s sdk.Strategy, session string, history []sdk.Content, c Config) conform.Compressed {
	history = curated(history)
	at := r.at(history)
	c.ContextLimit, c.PendingTokens = at.ContextLimit, at.PendingTokens
	in, err := c.compressInput(r.info, history)
	if err == nil {
		in.SessionID = session
		var out sdk.CompressResult
		if out, err = s.Compress(r.ctx, &fakeHost{info: r.info, config: c}, in); err == nil {
			return conform.CompressedTo(out.NoOp, entries(out.History), out.Metadata)
		}
	}
	return conform.Compressed{Said: "error: " + err.Error(), Failed: true}
}
