// Package wire is the one place that knows how things travel between the host and a strategy plugin: the constants of
// the handshake, the framing of chunked streams, and every conversion to and from the protobuf messages of
// proto/thresh/v1. Package sdk and the host's plugin client use it. What implementers in other languages need is in
// proto/PROTOCOL.md.
//
// Where to start:
//
//   - A call: stream_host.go ([OpenOptimize], [OpenCompress], [Stream]) and stream_plugin.go ([ReceiveOptimize], [SendEdits]). services_plugin.go and services_host.go are the two ends of what a plugin asks of the host.
//   - Headers: call.go, result.go, info.go and enum.go, in pairs: toX for sending, fromX for receiving.
//   - Entries, edits and pieces: [Writer] and [Reader] frame them; encode.go, decode.go, answer_encode.go and
//     answer_decode.go know their fields, fields.go the rules of proto3.
//   - Errors: status.go and errors.go.
//
// The messages inside chunks are encoded field by field, without the generated types, because a history of thousands of
// entries would otherwise be built twice in memory. Tests hold this code against the generated one.
//
// Text is made valid UTF-8 on its way out, because every reader refuses a proto3 string with other bytes. Unknown
// values of a newer peer are carried or replaced by a default, as the function's comment says; what is malformed is an
// error that wraps [ErrProtocol].
package wire
