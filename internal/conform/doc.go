// Package conform tries strategies in every way that has gone wrong before, and reports what happened in each.
//
// 'thresh plugins verify' tries plugins, and package sdktest Go values in a test: to [Runner] both are an
// [sdk.Strategy], which a [Subject] hands out. Start at [Checks]. A check asks for answers, judges them and returns
// [Findings]; it may also be [Skipped], or have [Unseen] anything to judge.
//
// The rules that the host does not enforce are in rules.go; those that it does are in package check. conform.go judges
// a single answer. The histories are made for the purpose (package samples) and the same in every run, but for those
// that the user names; so are the host and its model ([Host], [Standard]). What a strategy reacts to it is shown more
// of. The answers to all histories are asked for once and judged by several checks.
package conform
