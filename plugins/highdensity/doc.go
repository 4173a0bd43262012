// Package highdensity is the strategy high-density: it keeps a history dense without an LLM.
//
// Before every threshold check it prunes by the rules of package prune (strategy.go). Where that is not enough,
// Compress runs: start reading at [Strategy.Compress]. Its steps are the methods of plan (plan.go).
package highdensity
