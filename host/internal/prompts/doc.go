// Package prompts resolves the prompts that strategies send to a model (REQ-HD-010): the shipped ones, and files that
// replace them. It is for the host and its command line; a strategy gets a prompt through sdk.Host.ResolvePrompt.
//
// Start with [Resolver.Resolve]. With Dir set, the first of these files that exists is used:
//
//	<dir>/<strategy>/<model>/<name>.md
//	<dir>/<strategy>/<name>.md
//	<dir>/<model>/<name>.md
//	<dir>/<name>.md
//
// How a strategy asks matters more than which model it asks, so a prompt for a strategy takes precedence over one for
// a model. In the name of a model every character but letters, digits, ".", "_" and "-" becomes "-", and so does a
// leading dot: the prompts for "openrouter/qwen-3:free" are in "openrouter-qwen-3-free".
//
// A file that exists but cannot be used is an error that names it. It is never skipped in favour of another file: its
// author would not notice.
package prompts
