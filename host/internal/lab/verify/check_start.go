package verify

import (
	"context"
	"fmt"
	"syscall"

	"google.golang.org/protobuf/proto"

	"github.com/thresh-dev/thresh/internal/text"
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
)

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
	info := infoOf(p.info)
	detail, bound := "", s.bounds.call
	for _, op := range operations(p.info) {
		// What it comes to is for other checks to judge.
		if s.noticeHang(p.callIn(ctx, s, rawCall{op: op, sample: s.plain(), info: info, settings: defaultsOf(p.info)})) {
			detail = fmt.Sprintf("%s did not end within %v; from here on, calls get %v", op, bound, s.bounds.call)
		}
	}
	_ = p.Signal(syscall.SIGTERM) // an error means that it has ended already
	p.Gone(s.bounds.stop)
	p.end()
	if lines, first := p.Noise(); lines > 0 {
		return "", fmt.Errorf("it writes to standard output, which is for the handshake line alone; it printed %d other lines, such as %q", lines, first)
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
	return fmt.Sprintf("%s %s, trigger %s at %g of the limit, %d settings%s", i.Name, text.OneLine(i.Version, 100), i.Trigger.Mode, i.Trigger.DefaultThreshold, len(i.Config), llm), nil
}

func checkGetInfoStable(ctx context.Context, s *suite) (string, error) {
	const asked = 3
	var first *threshv1.GetInfoResponse
	for start := range starts {
		p, err := s.up(ctx)
		if err != nil {
			return "", err
		}
		infos := []*threshv1.GetInfoResponse{p.info}
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
				first = info
			}
			if !proto.Equal(first, info) {
				return "", fmt.Errorf("start %d, answer %d is another than the first: %s", start+1, i+1, difference(first, info))
			}
		}
	}
	return fmt.Sprintf("%d starts, %d answers each", starts, asked), nil
}

// difference names the fields in which two answers to GetInfo differ.
func difference(a, b *threshv1.GetInfoResponse) string {
	var found string
	fields := a.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		va, vb := a.ProtoReflect().Get(f), b.ProtoReflect().Get(f)
		if !va.Equal(vb) {
			found += fmt.Sprintf("%s was %s, is %s; ", f.Name(), show(va.String()), show(vb.String()))
		}
	}
	if found == "" {
		return "it differs in a field that this host does not know"
	}
	return found[:len(found)-2]
}

func show(s string) string { return fmt.Sprintf("%q", text.OneLine(s, 60)) }

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
	return "", s.order(ctx, p, info)
}
