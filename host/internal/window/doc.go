// Package engine is the runtime behind package host: it owns sessions, their histories and the plugin processes.
//
// It is for the doors (package host, and through it JSON-RPC) and for the lab, which drives sessions with recorded
// conversations and needs more than an embedder does (lab.go). Programs that embed thresh use package host.
//
// Start at [Open], then [Host.Session], [Session.Add] and [Session.Prepare]. How the files relate:
//
//	host.go       a Host: what it is made of, opening and closing
//	session.go    a Session: its parts, opening and closing
//	add.go        entries come in: checked, counted, and given to the journal
//	turn.go       Prepare and Compress: one turn, which package prepare runs
//	request.go    what a turn is told: the settings in force, the strategy, its model and its prompts
//	settings.go   settings of one session, and which of them can change
//	taxonomy.go   the tool taxonomy that the settings ask for
//	prices.go     the price list that the settings ask for
//	model.go      clients of the models that strategies may call
//	generate.go   one model call of a strategy
//	state.go      what a session remembers besides its history: its side of the journal
//	kept.go       the store of a host, and deleting sessions from it
//	logging.go    log/slog on the outside, hclog on the inside, because go-plugin wants that
//	lab.go        counting without a session, planning without applying: for the lab only
package window
