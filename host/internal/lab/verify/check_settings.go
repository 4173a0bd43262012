package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk"
)

// try starts a process, configures it with settings, and has judge look at the process and at the error of Configure.
// Each attempt gets a fresh process, so an attempt cannot fail because of the one before.
func (s *suite) try(ctx context.Context, settings []byte, judge func(*raw, sdk.Info, error) error) error {
	p, err := s.spawn(ctx)
	if err != nil {
		return err
	}
	defer p.end()
	ctx, cancel := context.WithTimeout(ctx, s.bounds.start)
	defer cancel()
	info, err := p.getInfo(ctx)
	if err != nil {
		return err
	}
	return judge(p, info.Info, p.configure(ctx, info.Info, settings, nil))
}

// declared returns the plugin's description of itself. For a plugin without settings it returns both the description
// and a skipped error: checks that only need declared settings pass the error on, others go on with the description.
func (s *suite) declared(ctx context.Context) (*sdk.Info, error) {
	p, err := s.up(ctx)
	if err != nil {
		return nil, err
	}
	p.end()
	if len(p.info.Config) == 0 {
		return &p.info.Info, conform.Skipped("it declares no settings")
	}
	return &p.info.Info, nil
}

// maxTried limits how many settings are tried one by one: each try is a process start, which takes up to a second
// for interpreted languages.
const maxTried = 20

// checkSettingsDefaults demands that a plugin accepts its own defaults and the edges of what it declares. The host
// validates user settings against the declaration before it sends them, so a plugin that rejects them contradicts
// itself, and the user sees an error that no documentation explains.
func checkSettingsDefaults(ctx context.Context, s *suite) (string, error) {
	if _, err := s.strategy(ctx); err != nil {
		return "", err // starting under a host already checks that defaults match their types and bounds
	}
	info, err := s.declared(ctx)
	if err != nil {
		return "", err
	}
	tried := 0
	for _, f := range info.Config {
		for _, value := range conform.Edges(f) {
			if tried == maxTried {
				break
			}
			tried++
			err := s.try(ctx, conform.Settings(*info, f.Key, value), func(_ *raw, _ sdk.Info, err error) error {
				if err != nil && (status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), f.Key)) {
					return fmt.Errorf(
						"%s = %s, which it declares as allowed: %w", f.Key, text.OneLine(string(value), 100), err)
				}
				return nil
			})
			if err != nil {
				return "", err
			}
		}
	}
	return fmt.Sprintf("%d settings, %d values at their bounds", len(info.Config), tried), nil
}

// broken are settings that are not a JSON object. 10,000 brackets overflow the stack of recursive parsers. In calls
// they come in place of the whole settings, in Configure too.
func broken() []string {
	return []string{"{", "[1]", `"x"`, "7", "\x00\xff", strings.Repeat("[", 10_000)}
}

// garbage returns values, in turn, that no declaration allows: wrong types, a number outside float64's useful range,
// the largest int64 (which float64 cannot hold), a very long string, and a key that pollutes prototypes in JavaScript.
// Null is not among them: many decoders treat it as "not given", hosts never send it, and a strategy may rely on a
// setting with a default to be present.
func garbage(i int) json.RawMessage {
	values := []string{
		`[]`, `{"a":{}}`, `"\u0000"`, `-1e308`, `9223372036854775808`, `"` + strings.Repeat("z", 100_000) + `"`,
		`{"__proto__":1}`,
	}
	return json.RawMessage(values[i%len(values)])
}

// checkSettingsGarbage demands that garbage settings are refused with a useful error or ignored, and crash nothing.
// The host validates declared settings, but a plugin must not depend on it: other hosts and older versions exist.
// Each setting gets one kind of garbage in turn, which keeps the number of starts linear.
func checkSettingsGarbage(ctx context.Context, s *suite) (string, error) {
	info, err := s.declared(ctx)
	if err != nil && !errors.As(err, new(conform.Skipped)) || info == nil {
		return "", err
	}
	refused, tried := 0, 0
	// key is the setting that holds garbage; "" if no setting is to blame.
	attempt := func(settings, key string) error {
		tried++
		return s.try(ctx, []byte(settings), func(p *raw, info sdk.Info, err error) error {
			if err != nil {
				refused++
			}
			return judgeGarbage(ctx, p, settings, key, err)
		})
	}
	for _, settings := range broken() {
		if err := attempt(settings, ""); err != nil {
			return "", err
		}
	}
	if err := attempt(string(conform.Settings(*info, "no-such-setting", json.RawMessage("1"))), ""); err != nil {
		return "", err
	}
	for i, f := range info.Config {
		if i == maxTried {
			break
		}
		if err := attempt(string(conform.Settings(*info, f.Key, garbage(i))), f.Key); err != nil {
			return "", err
		}
	}
	inCalls, err := s.garbageInCalls(ctx, *info)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(
		"%d kinds of garbage in Configure, of which %d were refused; %d in calls", tried, refused, inCalls), nil
}

// judgeGarbage judges the outcome of a Configure with garbage. Accepting it is fine: hosts validate settings
// themselves. A refusal must have the code INVALID_ARGUMENT and name the key, because the user sees that message and
// nothing else. Either way the process must go on answering.
func judgeGarbage(ctx context.Context, p *raw, settings, key string, err error) error {
	what := "Configure with " + show(settings)
	if err != nil {
		if err := want(what, err, codes.InvalidArgument); err != nil {
			return err
		}
		if key != "" && !strings.Contains(status.Convert(err).Message(), key) {
			return fmt.Errorf("%s was refused, but the message does not name the key %s: %s",
				what, key, text.OneLine(status.Convert(err).Message(), 200))
		}
	}
	if _, err := p.getInfo(ctx); err != nil {
		return fmt.Errorf("after %s it no longer answers: %w", what, err)
	}
	return nil
}

// garbageInCalls sends the same garbage as per-call settings to one process that was configured properly. Settings
// travel with each call, since sessions of one host can have different ones. Internal, Unavailable and
// DeadlineExceeded are what a crash, a panic or a hang looks like from outside.
func (s *suite) garbageInCalls(ctx context.Context, info sdk.Info) (tried int, err error) {
	p, err := s.up(ctx)
	if err != nil {
		return 0, err
	}
	defer p.end()
	all := broken()
	for i, f := range info.Config {
		all = append(all, string(conform.Settings(info, f.Key, garbage(i))))
	}
	sm := s.strategies.Plain()
	for _, op := range operations(info) {
		for _, settings := range all {
			tried++
			err := p.callIn(ctx, s, rawCall{op: op, sample: sm, info: info, settings: []byte(settings)})
			switch status.Code(err) {
			case codes.Internal, codes.Unavailable, codes.DeadlineExceeded:
				return 0, fmt.Errorf("%s with the settings %s: %w; "+
					"INVALID_ARGUMENT is right for settings that cannot be used", op, show(settings), err)
			}
			if _, err := p.getInfo(ctx); err != nil {
				return 0, fmt.Errorf("after %s with the settings %s it no longer answers: %w", op, show(settings), err)
			}
		}
	}
	return tried, nil
}

// callIn makes a call with the time limit of all calls, so a plugin that hangs cannot stop the run.
func (p *raw) callIn(ctx context.Context, s *suite, c rawCall) error {
	ctx, cancel := context.WithTimeout(ctx, s.bounds.call)
	defer cancel()
	return p.call(ctx, c)
}

// order makes calls that are out of order: operations before Configure, and an Optimize without a continuous trigger.
// A plugin that answered them would work with missing settings or prune against its own declaration.
func (s *suite) order(ctx context.Context, p *raw, info sdk.Info) error {
	c := rawCall{sample: s.strategies.Plain(), info: info, settings: conform.Settings(info, "", nil)}
	for _, op := range operations(info) {
		c.op = op
		if err := want(string(op)+" before Configure", p.callIn(ctx, s, c), codes.FailedPrecondition); err != nil {
			return err
		}
	}
	if err := p.configure(ctx, info, conform.Settings(info, "", nil), nil); err != nil {
		return err
	}
	if len(operations(info)) == 1 {
		c.op = plugins.OpOptimize
		return want("Optimize, without a continuous trigger,", p.callIn(ctx, s, c), codes.Unimplemented)
	}
	return nil
}
