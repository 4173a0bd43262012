// Package provider is what Anthropic's, OpenAI's and Google's APIs look like, for everything that reads or writes them:
// the proxy, summaries, and the forms of messages for embedders.
//
// A [Form] describes one API as data: the kinds of its items and parts, what may become of each and what must stay
// together, usage, refusals, and how a completion is asked for and streamed. The forms are in a package each
// (anthropic, chat, responses, gemini), package apis finds them, and package body reads and edits requests by them. A
// kind that a provider adds is one row in one of these packages.
//
// The judge of tests, internal/testkit/modelapi, knows the APIs by itself: it shares nothing with this room.
package provider
