package verify

import (
	"context"
	"fmt"
	"strings"
	"syscall"

	"github.com/thresh-dev/thresh/host/internal/plugins/client"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/internal/text"
)

// checkHandshake demands that the plugin starts, completes go-plugin's handshake and accepts its own defaults within
// the host's start timeout. If it does not, all later checks are skipped: see errNoStart.
func checkHandshake(ctx context.Context, s *suite) (string, error) {
	p, err := s.up(ctx)
	if err != nil {
		return "", err
	}
	defer p.end()
	return fmt.Sprintf("ready after %d ms; at most %v are allowed", p.took.Milliseconds(), s.bounds.start), nil
}

// checkStdout demands that standard output carries the handshake line and nothing else. go-plugin reads the handshake
// from it; a stray print before that line breaks the start, and one after it may block the process once the pipe is
// full in hosts that do not drain it. The plugin is called and stopped first, as both are occasions to print.
func checkStdout(ctx context.Context, s *suite) (string, error) {
	p, err := s.up(ctx)
	if err != nil {
		return "", err
	}
	detail, bound := "", s.bounds.call
	for _, op := range operations(p.info.Info) {
		// Other checks judge the answer. A hang is noticed here, because this is the first call of the run.
		hung := s.noticeHang(p.callIn(ctx, s, rawCall{
			op: op, sample: s.strategies.Plain(), info: p.info.Info, settings: conform.Settings(p.info.Info, "", nil),
		}))
		if hung {
			detail = fmt.Sprintf("%s did not end within %v; from here on, calls get %v", op, bound, s.bounds.call)
		}
	}
	p.Gone(restTime) // what go-plugin took from os.Stdout is on its way
	// Not SIGKILL: plugins print their farewells when they are asked to stop.
	_ = p.Signal(syscall.SIGTERM) // an error means that it has ended already
	p.Gone(s.bounds.stop)
	p.end()
	if lines, first := p.Noise(); lines > 0 {
		var found conform.Findings
		found.Judged("", &check.Error{Index: -1, Err: conform.ErrPrints, Came: strings.Join(first, " / "),
			Detail: fmt.Sprintf("%d lines", lines)})
		return "", found.Err()
	}
	return detail, ctx.Err()
}

// checkGetInfo demands that the host accepts the plugin's description. Starting it under a host validates the
// description; what is left is to show it.
func checkGetInfo(ctx context.Context, s *suite) (string, error) {
	st, err := s.strategy(ctx)
	if err != nil {
		return "", err
	}
	i := st.Info()
	llm := ""
	if i.RequiresLLM {
		llm = ", needs a model"
	}
	early := ""
	if share := i.Trigger.EarlyThreshold; share > 0 {
		early = fmt.Sprintf(", where it pays from %g of the room on", share)
	}
	return fmt.Sprintf("%s %s, trigger %s at %g of the limit%s, %d settings%s", i.Name, text.OneLine(i.Version, 100),
		i.Trigger.Mode, i.Trigger.DefaultThreshold, early, len(i.Config), llm), nil
}

// checkGetInfoStable demands the same description each time, within a process and across starts. Hosts cache the
// description in the lock file and compare it there; a plugin that includes a time or a random id would be refused as
// changed.
func checkGetInfoStable(ctx context.Context, s *suite) (string, error) {
	const starts, asked = 3, 3
	var first *client.Declaration
	for start := range starts {
		p, err := s.up(ctx)
		if err != nil {
			return "", err
		}
		infos := []client.Declaration{p.info}
		for range asked - 1 {
			info, err := p.getInfo(ctx)
			if err != nil {
				p.end()
				return "", fmt.Errorf("asked again: %w", err)
			}
			infos = append(infos, info)
		}
		p.end()
		for i, info := range infos {
			if first == nil {
				first = &info
			}
			if d := first.Difference(info); d != "" {
				return "", fmt.Errorf("start %d, answer %d differs from the first: %s", start+1, i+1, d)
			}
		}
	}
	return fmt.Sprintf("%d starts, %d answers each", starts, asked), nil
}

// show quotes garbage for an error: one line, cut to 60 characters, safe for a terminal.
func show(s string) string { return fmt.Sprintf("%q", text.OneLine(s, 60)) }

// checkCallOrder demands that calls which the contract forbids are refused with the codes that it names. The process
// is spawned without a Configure, which is what the first calls need; see [suite.order].
func checkCallOrder(ctx context.Context, s *suite) (string, error) {
	p, err := s.spawn(ctx)
	if err != nil {
		return "", err
	}
	defer p.end()
	info, err := p.getInfo(ctx)
	if err != nil {
		return "", err
	}
	return "", s.order(ctx, p, info.Info)
}
