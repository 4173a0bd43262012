// Package body reads and edits the request bodies of the four model APIs: Anthropic's Messages, OpenAI's Chat
// Completions and Responses, and Gemini's generateContent.
//
// A proxy must not parse a body and write it again: that changes bytes which signatures and prompt caches depend on. So
// [Index] finds where the items of the conversation stand in the client's bytes, [Request.Entries] reads them as
// entries of a history, [Request.Plan] turns what a host made of that history into edits, and [Apply] splices these
// into the client's bytes. Every byte that no edit covers is the client's own. [Validate] then checks that the result
// is still a request that the API accepts.
//
//	tape.go       the values of a body as spans, read in one strict pass
//	request.go    Index: items, parts, and why a request is not to be changed
//	reader.go     items and parts, as the API's form describes them
//	chain.go      sums of the beginnings of a conversation
//	normal.go     what is hashed of an item, which does not change when only a cache marker moves
//	pairs.go      which response answers which call
//	entries.go    items as entries of a history
//	plan.go       what becomes of each entry; hold.go has what an API demands of it
//	sealed.go     thinking that stays only behind what it was made behind
//	gaps.go       how many messages a request lacks where a view has a mark
//	recall.go     ids in the places of removed results, by which they can be asked for
//	edits.go      the plan as edits, new items included; markers.go moves cache markers
//	sections.go   instructions within a conversation stand where the API takes them
//	roles.go      roles alternate when a request goes, as they did when it came
//	validate.go   what must hold for each API
package body
