// Package content is the model of a conversation history: entries ([Content]) made of blocks ([Block]).
//
// Strategy authors meet its types as sdk.Content, sdk.Text and so on, agent authors pass them to host.Session.Add, and
// every importer produces them.
//
// The JSON form is thresh's native form: {"speaker": …, "blocks": [{"type": …}, …], "metadata": {…}}. What this version
// does not know — fields, kinds of block, malformed blocks — is carried unchanged in [Fields] and [Opaque]. Tool
// parameters and results are raw JSON, so no digit and no key order is lost.
//
// Blocks are values: a block that was read can be copied and changed without touching the history it came from.
package content
