// Package wire is the one place that knows how things travel between the host and a strategy plugin: the constants of
// the handshake, the framing of chunked streams, and every conversion to and from the protobuf messages of
// proto/thresh/v1.
//
// Package sdk (the plugin's end) and the host's plugin client (the host's end) use it; both register generated gRPC
// services, but neither looks into a generated message. Authors of strategies never see this package, and it changes
// without notice. What implementers in other languages need is in proto/PROTOCOL.md.
//
// Where to start depends on the question:
//
//   - How does a call run? stream_host.go has the host's end ([OpenOptimize], [OpenCompress], [Stream]);
//     stream_plugin.go has the plugin's end ([ReceiveOptimize], [SendEdits] and their like). services_plugin.go and
//     services_host.go are the two ends of what a plugin asks of the host during a Compress.
//   - What is in a header? call.go, result.go, info.go and enum.go convert between package contract and the generated
//     types, in pairs: toX for sending, fromX for receiving. Tests send every value through both.
//   - How do entries, edits and pieces get into chunks? [Writer] and [Reader] frame them; encode.go, decode.go,
//     answer_encode.go and answer_decode.go know their fields, fields.go the rules of proto3. codec.go takes chunks in
//     and out of gRPC's messages.
//   - What does an error mean on the other side? status.go and errors.go.
//
// The messages inside chunks are encoded field by field, without the generated types: a history of thousands of entries
// would otherwise be built twice in memory. Tests hold this code against the generated one. The headers, of which a
// call has two, use the generated types.
//
// Conventions: text is made valid UTF-8 on its way out, because a proto3 string with other bytes is refused by every
// reader. Values that a newer peer sends and this version does not know are carried or replaced by a default, as the
// comment of the function says; what is malformed is an error that wraps [ErrProtocol].
package wire
