// Chaos is a driver that disturbs 'thresh run' from outside and says what came of it: agents add entries and prepare
// all the time, while the plugins' processes are killed and stopped, and their files replaced, removed and put back.
//
//	make chaos
//	go run ./internal/testkit/chaos -bin bin -seconds 60 -sessions 50 -seed 1
//
// It uses nothing of the host but JSON-RPC and the real programs, so that it sees what an agent sees, and judges every
// prepared history by rules of its own (rules.go) rather than by the host's. At the end it looks for acknowledged
// entries that are neither in the history nor reported as removed, and for processes and files that are left. The exit
// status is 1 if there is a fault. Ctrl-C ends it early, with the same checks.
//
// Where to start: run.go is one run from its directory to its report; agent.go is one agent and what it knows about its
// session; monkey.go disturbs; client.go speaks JSON-RPC; report.go counts, and prints the table. Package soaktest
// under host/internal is the same idea from within: it sees the owned history, and kills the plugins of four
// strategies.
package main
