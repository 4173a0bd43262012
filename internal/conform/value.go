package conform

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk"
)

// Value returns a Go value as a subject. One that had no call is a copy of the value as it is now; what pointers and
// maps in it lead to is not copied.
func Value(s sdk.Strategy) Subject {
	v := reflect.ValueOf(s)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return value{s, func() sdk.Strategy { return s }}
	}
	copied := func(v reflect.Value) reflect.Value {
		to := reflect.New(v.Type().Elem())
		to.Elem().Set(v.Elem())
		return to
	}
	unused := copied(v)
	return value{s, func() sdk.Strategy { return copied(unused).Interface().(sdk.Strategy) }}
}

type value struct {
	s      sdk.Strategy
	unused func() sdk.Strategy
}

func (v value) Shared(context.Context) (sdk.Strategy, error) { return catching(v.s), nil }

func (v value) Fresh(context.Context) (sdk.Strategy, func(), error) {
	return catching(v.unused()), func() {}, nil
}

func (value) Timed(_ context.Context, _ sdk.Strategy, call func() error) (time.Duration, error) {
	return took(call)
}

func (value) Session(_ context.Context, s sdk.Strategy, id string) (Session, error) {
	return &played{o: s.(sdk.Optimizer), id: id}, nil
}

// catching returns a strategy of which a panic fails the call, as in a plugin, and not the whole test.
func catching(s sdk.Strategy) sdk.Strategy {
	if o, ok := s.(sdk.Optimizer); ok {
		return caughtOptimizer{caught{s}, o}
	}
	return caught{s}
}

type caught struct{ sdk.Strategy }

func (s caught) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (_ sdk.CompressResult, err error) {
	defer recovered(&err)
	return s.Strategy.Compress(ctx, host, in)
}

type caughtOptimizer struct {
	caught
	o sdk.Optimizer
}

func (s caughtOptimizer) Optimize(ctx context.Context, in sdk.OptimizeInput) (_ sdk.DensityResult, err error) {
	defer recovered(&err)
	return s.o.Optimize(ctx, in)
}

func recovered(err *error) {
	if p := recover(); p != nil {
		*err = &check.Error{Index: -1, Err: ErrPanic, Detail: place(), Came: fmt.Sprint(p)}
	}
}

// place is where the panic was, as "in keep.go:40".
func place() string {
	var pcs [100]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs[:])])
	for panicked := false; ; {
		f, more := frames.Next()
		own := !strings.HasPrefix(f.Function, "runtime.")
		if panicked && own {
			return fmt.Sprintf("in %s:%d", filepath.Base(f.File), f.Line)
		}
		if panicked = panicked || f.Function == "runtime.gopanic"; !more {
			return ""
		}
	}
}

// played is a session as the SDK would keep it in the strategy's process: all calls see the same entries and memo.
type played struct {
	o      sdk.Optimizer
	id     string
	was    []sdk.Content // as it should be
	shared []sdk.Content // what the strategy gets, call by call
	memo   sdk.Memo
	stored bool // in the last call
	// unchanged is how many entries at the beginning the memo was stored for, applied how many the edits that were
	// stored with it left.
	unchanged, applied int
}

// Add appends entries. The strategy gets copies, so what it writes to them shows when both are compared.
func (p *played) Add(entries []sdk.Content) {
	for i, e := range Sent(entries) {
		p.was = append(p.was, entries[i])
		p.shared = append(p.shared, e.WithOrigin(len(p.shared)))
	}
}

func (p *played) Optimize(ctx context.Context, in sdk.OptimizeInput) (_ sdk.DensityResult, told string, _ error) {
	told = fmt.Sprintf("of %d entries %d are unchanged since it was stored, and %d left by edits that were applied",
		len(p.shared), p.unchanged, p.applied)
	in.SessionID, in.History, in.Memo = p.id, slices.Clip(p.shared), &p.memo
	in.Unchanged, in.Applied = p.unchanged, p.applied
	got, err := p.o.Optimize(ctx, in)
	if err != nil {
		p.Forget()
		return got, told, err
	}
	// With a host that sends only what is new, the strategy would damage its own input for all later calls.
	if i := Changed(p.shared, p.was); i >= 0 {
		return got, told, &check.Error{Index: i, Err: ErrInputChanged, Detail: "later calls of the session see it too"}
	}
	if p.stored = p.memo.Stored(); p.stored {
		p.unchanged, p.applied = len(p.shared), 0
	}
	return got, told, nil
}

// Rewrite keeps the entries before the first edit, and with them what the memo says of them.
func (p *played) Rewrite(after []sdk.Content, told bool) {
	first := 0
	for ; first < len(after); first++ {
		if at, ok := after[first].Origin(); !ok || at != first || !after[first].Equal(p.was[first]) {
			break
		}
	}
	p.was, p.shared = slices.Clone(p.was[:first]), p.shared[:first:first]
	p.Add(after[first:])
	p.unchanged, p.applied = min(p.unchanged, first), 0
	if told && p.stored {
		p.applied = len(p.was)
	}
	if p.unchanged == 0 && p.applied == 0 {
		p.memo = sdk.Memo{}
	}
}

func (p *played) Forget() { p.memo, p.unchanged, p.applied = sdk.Memo{}, 0, 0 }
