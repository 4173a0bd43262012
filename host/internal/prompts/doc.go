// Package prompts resolves the prompts that strategies send to a model: the shipped ones, and files that
// replace them. It is for the host and its command line; a strategy calls sdk.Host.ResolvePrompt.
//
// Start with [Resolver.Resolve]. With Dir set, the first of these files that exists is used:
//
//	<dir>/<strategy>/<model>/<name>.md
//	<dir>/<strategy>/<name>.md
//	<dir>/<model>/<name>.md
//	<dir>/<name>.md
//
// How a strategy asks matters more than which model it asks, so a strategy's prompt precedes a model's. In a model's
// name every character but letters, digits, ".", "_" and "-" becomes "-", and so does a leading dot:
// "openrouter/qwen-3:free" is "openrouter-qwen-3-free".
//
// A file that exists but cannot be used is an error. It is never skipped: its author would not notice.
package prompts
