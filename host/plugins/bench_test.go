package plugins

import (
	"errors"
	"testing"
)

// What isolation costs: a start from the file to the accepted Configure, and its end.
func BenchmarkIsolatedStart(b *testing.B) {
	for _, mode := range []Isolation{IsolationOff, IsolationBestEffort} {
		b.Run(string(mode), func(b *testing.B) {
			isolates(b)
			m := open(b, Options{Dirs: []string{pluginDir(b, "honest")}, Isolation: mode})
			if err := m.prepare(); err != nil {
				b.Fatal(err)
			}
			bin, err := openBinary(candidate{name: "honest", path: m.discover().candidates[0].path}, &m.hashes, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer bin.close()
			for b.Loop() {
				p, err := launch(b.Context(), m, bin, snapshot{}, func(State) {})
				if err != nil {
					b.Fatal(err)
				}
				p.end(errors.New("done"))
				b.StopTimer()
				p.destroy(m.opts.StopTimeout)
				b.StartTimer()
			}
		})
	}
}

// What a call costs in an isolated process.
func BenchmarkIsolatedCall(b *testing.B) {
	for _, mode := range []Isolation{IsolationOff, IsolationBestEffort} {
		b.Run(string(mode), func(b *testing.B) {
			s := strategy(b, open(b, Options{Dirs: []string{pluginDir(b, "honest")}, Isolation: mode}), "honest")
			in := OptimizeCall{Call: call("a", "chaff", "b")}
			for b.Loop() {
				if _, err := s.Optimize(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
