package verify

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ready is a bare process that was described and configured.
type ready struct {
	*bare
	info declaration
	took time.Duration // from the start
}

// up starts a bare process and brings it to ready, with its own defaults as settings. Whoever gets it ends it.
func (s *suite) up(ctx context.Context) (ready, error) { return s.upWith(ctx, answers) }

func (s *suite) upWith(ctx context.Context, m modelMode) (ready, error) {
	start := time.Now()
	p, err := s.spawn(ctx)
	if err != nil {
		return ready{}, err
	}
	ctx, cancel := context.WithDeadline(ctx, start.Add(s.bounds.start))
	defer cancel()
	info, err := p.getInfo(ctx)
	if err == nil {
		err = p.configureWith(ctx, defaultsOf(info.Info), m)
	}
	if err != nil {
		p.end()
		s.broken = true
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("it was not ready within %v: %w", s.bounds.start, err)
		}
		return ready{}, p.withStderr(err)
	}
	return ready{p, info, time.Since(start)}, nil
}

func checkHandshake(ctx context.Context, s *suite) (string, error) {
	p, err := s.up(ctx)
	if err != nil {
		return "", err
	}
	defer p.end()
	return fmt.Sprintf("ready after %d ms; at most %v are allowed", p.took.Milliseconds(), s.bounds.start), nil
}

func checkStdout(ctx context.Context, s *suite) (string, error) {
	p, err := s.up(ctx)
	if err != nil {
		return "", err
	}
	detail, bound := "", s.bounds.call
	for _, op := range operations(p.info.Info) {
		// What it comes to is for other checks to judge.
		if s.noticeHang(p.callIn(ctx, s, bareCall{op: op, sample: s.plain(), info: p.info.Info, settings: defaultsOf(p.info.Info)})) {
			detail = fmt.Sprintf("%s did not end within %v; from here on, calls get %v", op, bound, s.bounds.call)
		}
	}
	_ = p.terminate()
	p.gone(s.bounds.stop)
	p.end()
	if noise := p.out.printed(); noise != "" {
		return "", errors.New("it writes to standard output, which is for the handshake line alone" + noise)
	}
	return detail, ctx.Err()
}

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
	return fmt.Sprintf("%s %s, trigger %s at %g of the limit, %d settings%s", i.Name, oneLine(i.Version, 100), i.Trigger.Mode, i.Trigger.DefaultThreshold, len(i.Config), llm), nil
}

func checkGetInfoStable(ctx context.Context, s *suite) (string, error) {
	const asked = 3
	var first *declaration
	for start := range starts {
		p, err := s.up(ctx)
		if err != nil {
			return "", err
		}
		infos := []declaration{p.info}
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
			if d := first.difference(info); d != "" {
				return "", fmt.Errorf("start %d, answer %d is another than the first: %s", start+1, i+1, d)
			}
		}
	}
	return fmt.Sprintf("%d starts, %d answers each", starts, asked), nil
}

func show(text string) string { return fmt.Sprintf("%q", oneLine(text, 60)) }

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
