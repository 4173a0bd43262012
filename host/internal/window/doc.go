// Package window is the runtime behind package host: it owns sessions, their histories and the plugin processes.
//
// It is for the doors (package host, and through it JSON-RPC) and for the lab, which drives sessions with recorded
// conversations. Programs that embed thresh use package host.
//
// Start at [Open], then [Host.Open], [Session.Add] and [Session.Prepare]. How the files relate:
//
//	host.go       a Host: what it is made of, opening and closing
//	session.go    a Session: its parts, opening and closing
//	add.go        entries come in: judged, counted (counted.go), and given to the journal
//	told.go       who is told of every turn
//	turn.go       Prepare and Compress from top to bottom: what other hosts wrote, the settings in force, the strategy
//	              with its model and prompts, the turn of package prepare, and what is written of it
//	settings.go   settings of one session, and which of them can change
//	taxonomy.go   the tool taxonomy that the settings ask for
//	prices.go     the price list that the settings ask for
//	model.go      clients of the models that strategies may call
//	generate.go   one model call of a strategy
//	state.go      what a session remembers besides its history: its side of the journal
//	kept.go       the store of a host, and deleting sessions from it
//	logging.go    log/slog on the outside, hclog on the inside, because go-plugin wants that
//
// # Locks
//
// A session has one lock, mu, for what it remembers. It is held for moments, never while a strategy, a model or a store
// works. The rooms below have their own, and whoever takes several takes them in this order:
//
//  1. the turn's, in prepare.Pipeline: one Prepare or Compress at a time; Add never waits for it
//  2. the journal's: what is written, in the order of the history; held while the store works
//  3. mu, and under it what sessions share: configurations, taxonomies, price lists, calibrations
//  4. the host's and the Keeper's, for the lists of what is open
//  5. those within one call: the pipeline's memory, history.History, transcriptlog.Log
//
// So nothing of the journal is called under mu; the journal calls the session with its own lock held (journal.Session).
package window
