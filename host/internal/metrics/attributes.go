package metrics

import (
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// labels are the attributes of a measurement; empty ones are left out. Strategy, profile and model are names from the
// configuration, everything else is a word from a fixed list.
type labels struct {
	strategy, profile, model string

	method, api, outcome, step, call, trigger, rung, result, reason, state, tokens string
}

// keys are the attributes' names, in the order of [labels.values].
var keys = [...]attribute.Key{
	"strategy", "profile", "model", "method", "api", "outcome", "step", "call", "trigger", "rung", "result", "reason",
	"state", "type",
}

// values returns the labels in the order of keys.
func (l labels) values() [len(keys)]string {
	return [...]string{
		l.strategy, l.profile, l.model, l.method, l.api, l.outcome, l.step, l.call, l.trigger, l.rung, l.result,
		l.reason, l.state, l.tokens,
	}
}

// options carry a set of attributes in the forms in which instruments take it.
type options struct {
	add     []metric.AddOption
	record  []metric.RecordOption
	observe metric.ObserveOption
}

// mostNames bounds how many strategies, profiles and models get series of their own: a long-lived session can be set
// to any number of them.
const mostNames = 100

// other replaces values that have no word of their own.
const other = "other"

// attributes caches the sets that were used, because building a set takes longer than recording with it. The zero
// value is ready to use.
type attributes struct {
	mu    sync.RWMutex
	known map[labels]*options
	names [3]map[string]bool // strategies, profiles, models
}

// of returns the options for labels.
func (a *attributes) of(l labels) *options {
	a.mu.RLock()
	o := a.known[l]
	a.mu.RUnlock()
	if o != nil {
		return o
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, name := range []*string{&l.strategy, &l.profile, &l.model} {
		*name = a.bounded(i, *name)
	}
	if o := a.known[l]; o != nil {
		return o
	}
	o = l.options()
	if a.known == nil {
		a.known = map[labels]*options{}
	}
	a.known[l] = o
	return o
}

// bounded returns the name, or other if there were too many names of its kind. The caller holds mu.
func (a *attributes) bounded(kind int, name string) string {
	if name == "" || a.names[kind][name] {
		return name
	}
	if len(a.names[kind]) >= mostNames {
		return other
	}
	if a.names[kind] == nil {
		a.names[kind] = map[string]bool{}
	}
	a.names[kind][name] = true
	return name
}

// options builds the attribute set.
func (l labels) options() *options {
	var all []attribute.KeyValue
	for i, value := range l.values() {
		if value != "" {
			all = append(all, keys[i].String(value))
		}
	}
	set := metric.WithAttributeSet(attribute.NewSet(all...))
	return &options{add: []metric.AddOption{set}, record: []metric.RecordOption{set}, observe: set}
}
