// Package soaktest holds one test: two hundred conversations over one host whose plugins are killed, stopped, replaced
// and removed again and again. Run it after a change to how plugins are supervised or how their answers are applied.
// Beside it BenchmarkStrangers measures what callers who mean harm take from thresh serve, and from other callers.
//
// By default the test ends when every plugin was killed, everything else befell one, and every strategy did its work,
// which takes some seconds and finds what breaks often. What breaks seldom needs longer:
//
//	go test ./host/internal/soaktest -soak 60s -v
//
// Where to start: TestSoak sets up and says what must be left at the end; conversation_test.go is one agent and what
// must hold after each of its turns, source_test.go what it says; monkey_test.go decides what befalls whom when;
// check_test.go holds the checks and the tally, rules_test.go what a provider takes.
package soaktest
