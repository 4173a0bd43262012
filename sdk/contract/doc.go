// Package contract holds the values that travel between a thresh host and a strategy: what a strategy declares, what a
// call tells it, what it answers, and what it may ask of the host.
//
// It is the vocabulary that both sides share. Authors of strategies meet it through package sdk, which offers the same
// types under the same names; they need not import this package. The host's domain (history, prepare) uses it without
// depending on processes, gRPC or protobuf. How the values are encoded is the business of internal/wire alone.
//
// The files follow the life of a strategy: info.go is what it declares at the handshake, config.go its own settings,
// call.go what every call carries, density.go the Optimize, compress.go the Compress, host.go what it may ask the host
// for while it compresses, and errors.go what the two sides can tell each other by an error.
//
// The parameter structs ([CallParams], [OptimizeParams], [CompressParams]) are embedded from the settings in force to
// the input that an author sees, so that a new parameter is one new field here and one line in internal/wire.
package contract
