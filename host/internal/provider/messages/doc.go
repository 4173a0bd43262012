// Package messages turns a provider's messages into entries of a history, and entries into messages, for every [API]:
// what the APIs share of it. Their own parts are variables Messages in packages anthropic, chat and responses.
//
// Two kinds of readers stand on it. [Parse] reads what a running agent adds: [Render] must give it back equal, so it
// refuses what the form does not have and carries what it does not know. Readers of recordings, in the lab, take what
// they find; they use a [Builder] without an API.
//
// A message becomes one entry. Tool results are entries of the tool, even where the API has them in messages of the
// user. What a provider takes as system prompt or instructions at the beginning is apart from the history; a later
// message of the system or the developer is a pinned human entry with that role in metadata.role.
package messages
