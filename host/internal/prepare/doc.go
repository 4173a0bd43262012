// Package prepare is the pre-send window of a session: what happens to a history between "the agent is about to call the
// model" and "this is what it may send".
//
// It is the host's own; agent authors meet it as host.Session.Prepare. Start at [Window.Prepare], which reads as the turn
// goes: optimise, check the threshold, compress, check the hard limit. Nothing here knows what a process is: strategies are
// reached through [Strategy].
package prepare
