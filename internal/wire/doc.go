// Package wire is how histories and answers travel between the host and a strategy plugin: the handshake's constants,
// the framing of chunked streams, and the conversion between package content and the protobuf messages of
// proto/thresh/v1.
//
// It is ours alone: sdk and host use it, authors of strategies never see it, and it changes without notice. What other
// languages have to know is in proto/PROTOCOL.md.
//
// Start at [Writer] and [Reader], which carry sequences of messages in chunks. [Edits] and [Pieces] turn what an author
// returned into messages that name what is kept; the host reads them back as [Edit] and [Piece] and judges them.
//
// The messages inside of chunks are encoded here field by field, without the generated types: a history of thousands of
// entries would otherwise be built twice. Tests hold this code against the generated one.
package wire
