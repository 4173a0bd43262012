// Package check judges what a strategy answered, against the history that it was given. It is the one place that does:
// the host applies nothing that was not here, and sdktest tells authors in their unit tests what the host would say.
//
// It is ours alone. Start at [Optimize] and [Compress]; they also build the new history, since judging and building
// need the same walk. [Content] judges a single entry and serves whatever comes from outside.
package check
