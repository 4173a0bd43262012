package sdktest

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/sdk"
)

// caught is a strategy of which a panic fails the call, as in a plugin, and not the whole test: Conformance then says with
// which history it was.
type caught struct{ sdk.Strategy }

func (s caught) Optimize(ctx context.Context, in sdk.OptimizeInput) (_ sdk.DensityResult, err error) {
	defer recovered("Optimize", &err)
	return s.Strategy.(sdk.Optimizer).Optimize(ctx, in)
}

func (s caught) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (_ sdk.CompressResult, err error) {
	defer recovered("Compress", &err)
	return s.Strategy.Compress(ctx, host, in)
}

func recovered(op string, err *error) {
	if p := recover(); p != nil {
		*err = refused(op, &check.Error{Index: -1, Err: conform.ErrPanic, Detail: place(), Came: fmt.Sprint(p)})
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
