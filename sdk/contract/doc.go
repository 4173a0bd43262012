// Package contract holds the values that travel between a thresh host and a strategy: what a strategy declares, what a
// call tells it, what it answers, and what it may ask of the host. Authors use them through package sdk, which has the
// same types under the same names. How they are encoded is the business of internal/wire alone.
//
// The parameter structs ([CallParams], [OptimizeParams], [CompressParams]) are embedded from the settings in force to
// the input that an author sees, so a new parameter is one new field here and one line in internal/wire.
package contract
