// Package fit keeps the conversations of an agent framework under its model's context limit. It is for the adapters,
// which convert the messages of one framework each; begin at [Keeper.Fit].
//
// A framework hands all its messages to a hook before each model call, some as they were said, others with what the
// hook returned the time before. Both are recognised by what they begin with, so that a session sees each message once.
package fit
