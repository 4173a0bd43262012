// Scalesim simulates hosts that share databases: turns of very many sessions, which host has them in memory, what is
// read and written for them, and what happens when a host or a database fails. docs/scale.md shows and explains its
// output, which is the same for the same flags: a test compares the two.
//
//	go run ./docs/scalesim -sessions 1000000 -hosts 300 -databases 16
//
// Start at scenarios in this file. sim.go has the world and what one second in it is, host.go which sessions a host has
// in memory.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

// Model is the size of an installation and what things cost. The costs are measured on two shared cores (see
// docs/scale.md); that a database of 16 cores does 8 times as much is an assumption. All sessions are alike, on
// average.
type Model struct {
	Sessions  int
	Hosts     int
	Databases int
	Seconds   int
	Seed      uint64

	// What a session does.
	TurnEvery      float64 // seconds between the turns of a session
	AppendsPerTurn int     // the entries, and the outcome of the turn
	TurnKB         float64 // written by these appends
	CompressEvery  int     // turns between two compressions
	CompressFor    int     // seconds, during which the session's lease is held
	Entries        int     // of a session that is loaded
	EntryKB        float64 // of one of them
	HostSessions   int     // that fit into the memory of a host (sessions.maxMemory)

	// What the databases and hosts can do, and what fails when.
	Cores        int     // of a database
	AppendCost   float64 // core seconds
	LoadCost     float64 // core seconds for one entry
	Connections  int     // of a host to a database
	Failover     int     // seconds until a database that failed is back
	Astray       float64 // share of turns that come to another host than the one before
	HostFailsAt  int     // second of the simulation
	DBFailsAt    int
	HostRestarts int // seconds until a host that failed is back, empty
}

// defaults is the largest installation of the table. The seconds leave time for the caches to settle before the first
// failure, and for the queues after the second.
func defaults() Model {
	return Model{
		Sessions: 1_000_000, Hosts: 300, Databases: 16, Seconds: 150, Seed: 1,
		TurnEvery: 30, AppendsPerTurn: 2, TurnKB: 7, CompressEvery: 60, CompressFor: 15, Entries: 500, EntryKB: 2,
		HostSessions: 4400,
		Cores:        16, AppendCost: 0.0005, LoadCost: 0.000005, Connections: 16, Failover: 20, Astray: 0.005,
		HostFailsAt: 60, DBFailsAt: 110, HostRestarts: 40,
	}
}

// scenarios are the rows of the table in docs/scale.md. They grow in sessions and hosts first, until one database is
// not enough, and then in databases.
func scenarios() []Model {
	var all []Model
	for _, c := range []struct{ sessions, hosts, databases int }{
		{10_000, 4, 1},
		{100_000, 30, 1},
		{300_000, 100, 1},
		{1_000_000, 300, 1},
		{1_000_000, 300, 4},
		{1_000_000, 300, 16},
		// fewer hosts than the sessions fit into
		{1_000_000, 120, 16},
	} {
		m := defaults()
		m.Sessions, m.Hosts, m.Databases = c.sessions, c.hosts, c.databases
		all = append(all, m)
	}
	return all
}

// The header and the rows are Markdown, because the page holds them as they are printed.
const header = "| sessions | hosts | databases | appends/s | MB/s written | MB/s read | loads/s " +
	"| loads/s, host fails | busy | busy, host fails | wait p99 | wait, database fails | given up | connections |\n" +
	"|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"

// row is one line of the table. Busy is the share of a database's cores; over 100 % its queue grows without end. Read
// traffic follows from the loads, as each reads all entries of a session.
func (r Result) row() string {
	wait := func(s float64) string {
		switch {
		// The queue grew for so long that the number says only when the simulation ended.
		case s > 60:
			return "grows"
		case s < 0.1:
			return "-"
		}
		return fmt.Sprintf("%.1f s", s)
	}
	percent := func(x float64) string { return fmt.Sprintf("%.0f %%", 100*x) }
	const form = "| %d | %d | %d | %.0f | %.0f | %.0f | %.0f | %.0f | %s | %s | %s | %s | %.2f %% | %d |\n"
	return fmt.Sprintf(form, r.Sessions, r.Hosts, r.Databases, r.Appends, r.MB,
		r.Loads*float64(r.Entries)*r.EntryKB/1000, r.Loads, r.PeakLoads, percent(r.Busy), percent(r.PeakBusy),
		wait(r.Wait), wait(r.FailWait), 100*r.GivenUp, r.Hosts*r.Connections)
}

// table runs each model, one after the other: the order of the rows is that of the models.
func table(w io.Writer, models []Model) {
	_, _ = io.WriteString(w, header)
	for _, m := range models {
		_, _ = io.WriteString(w, m.run().row())
	}
}

func main() {
	// The flags change one model; -table prints the fixed ones.
	m := defaults()
	all := flag.Bool("table", false, "print the table of docs/scale.md")
	flag.IntVar(&m.Sessions, "sessions", m.Sessions, "sessions that are in use")
	flag.IntVar(&m.Hosts, "hosts", m.Hosts, "hosts")
	flag.IntVar(&m.Databases, "databases", m.Databases, "databases, each with the sessions of some owners")
	flag.IntVar(&m.Seconds, "seconds", m.Seconds, "how long to simulate")
	flag.Float64Var(&m.TurnEvery, "turn-every", m.TurnEvery, "seconds between the turns of a session")
	flag.IntVar(&m.HostSessions, "host-sessions", m.HostSessions, "sessions that fit into the memory of a host")
	flag.IntVar(&m.Entries, "entries", m.Entries, "entries of a session that is loaded")
	flag.IntVar(&m.Cores, "cores", m.Cores, "cores of a database")
	flag.IntVar(&m.Connections, "connections", m.Connections, "connections of a host to its database")
	flag.Float64Var(&m.Astray, "astray", m.Astray, "share of turns that come to another host than the one before")
	flag.Uint64Var(&m.Seed, "seed", m.Seed, "seed of the random numbers")
	flag.Parse()
	if *all {
		table(os.Stdout, scenarios())
		return
	}
	table(os.Stdout, []Model{m})
}
