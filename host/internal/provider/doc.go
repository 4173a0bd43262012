// Package provider is what Anthropic's, OpenAI's and Google's APIs look like, for everything that reads or writes them:
// the proxy, summaries, and the forms of messages for embedders.
//
// A [Form] describes one API as data: the kinds of its items and parts, what may become of each and what must stay
// together, usage, refusals, and how a completion is asked for and streamed. The forms are in a package each
// (anthropic, chat, responses, gemini), with what reads and writes their messages; package messages has what is common
// to that, package apis finds a form, and package body reads and edits requests by it. A kind that a provider adds is one
// row in one of these packages.
//
// The judge of tests, internal/testkit/modelapi, knows the APIs by itself: it shares nothing with this room.
package provider
