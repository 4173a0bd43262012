// Package prompts finds the prompts that strategies send to a model (REQ-HD-010): those that come with the host, and
// files that take their place. It is for the host and its command line; a strategy asks for one by sdk.Host.ResolvePrompt.
//
// Start with [Resolver.Resolve]. With Dir set, the first of these files that exists is used:
//
//	<dir>/<strategy>/<model>/<name>.md
//	<dir>/<strategy>/<name>.md
//	<dir>/<model>/<name>.md
//	<dir>/<name>.md
//
// A strategy has its own way of asking, which matters more than the model; so a prompt for a strategy goes before one for
// a model. In the name of a model every character but letters, digits, ".", "_" and "-" becomes "-", and so does a leading
// dot: the prompts for "openrouter/qwen-3:free" are in "openrouter-qwen-3-free".
//
// A file that is there but cannot be used is an error that names it. It is never passed over for another one: who wrote
// it would not notice.
package prompts
