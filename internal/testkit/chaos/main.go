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

// main exits with 1 if there is a fault, and if there was no run. A run that could not begin and a run with faults have
// the same status; standard error tells them apart.
func main() {
	o := options{}
	bin := flag.String("bin", "bin", "the `directory` with thresh, and the folder plugins in it")
	seconds := flag.Int("seconds", 60, "how long to disturb")
	flag.IntVar(&o.sessions, "sessions", 50, "how many sessions at the same time")
	flag.Uint64Var(&o.seed, "seed", 0, "seed of the random choices; 0 chooses one")
	flag.Parse()
	o.lasts = time.Duration(*seconds) * time.Second
	// With the same seed the agents say the same, and the monkey chooses the same. What happens when is up to the
	// machine, so that a fault need not come again: try several times. The report prints the seed. It repeats the
	// random choices, but not the timing of processes.
	if o.seed == 0 {
		o.seed = uint64(time.Now().UnixNano())
	}
	o.thresh, o.plugins = filepath.Join(*bin, "thresh"), filepath.Join(*bin, "plugins")

	// Ctrl-C ends the disturbance early: what follows, the checks and the table, is as at the regular end.
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
