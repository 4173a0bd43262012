// Package content is the model of a conversation history: entries ([Content]) made of blocks ([Block]).
//
// Strategy authors meet its types as sdk.Content, sdk.Text and so on, agent authors pass them to host.Session.Add, and
// every importer produces them. It needs nothing beyond the standard library and package rawjson.
//
// The JSON form is thresh's native form: {"speaker": …, "blocks": [{"type": …}, …], "metadata": {…}}. What this
// version does not know — fields, kinds of block, malformed blocks — is carried unchanged in [Fields] and [Opaque].
// Tool parameters and results stay raw JSON, so that no digit and no key order is lost.
//
// Blocks are values: a block that was read can be copied and changed without touching the history it came from.
//
// content.go has the types; decode.go reads the native form and encode.go writes it; fieldlist.go keeps the fields of
// an object in their order.
package content
