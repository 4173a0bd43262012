// Package soaktest holds one test and nothing else: two hundred conversations over one host, whose plugins are killed
// all the time. It is for whoever changes how plugins are supervised, or how their answers are applied.
//
// It lasts five seconds, which shows what breaks often; what breaks seldom takes longer:
//
//	go test ./host/internal/soaktest -soak 60s -v
//
// Where to start: TestSoak says what is opened and what must be left at the end, conversation_test.go what one agent
// does and what must hold after each of its turns, killer_test.go who dies when.
package soaktest
