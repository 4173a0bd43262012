package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	o := options{}
	bin := flag.String("bin", "bin", "the `directory` with thresh, and the folder plugins in it")
	seconds := flag.Int("seconds", 60, "how long to disturb")
	flag.IntVar(&o.sessions, "sessions", 50, "how many sessions at the same time")
	flag.Uint64Var(&o.seed, "seed", 0, "seed of the random choices; 0 chooses one")
	flag.Parse()
	o.lasts = time.Duration(*seconds) * time.Second
	if o.seed == 0 {
		o.seed = uint64(time.Now().UnixNano())
	}
	o.thresh, o.plugins = filepath.Join(*bin, "thresh"), filepath.Join(*bin, "plugins")

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	report, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
	report.print(os.Stdout)
	if !report.good() {
		os.Exit(1)
	}
}
