package metrics

import (
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// labels are the attributes of a measurement; empty ones are left out. Strategy, profile and model are names from the
// configuration, the others words from fixed lists.
type labels struct {
	strategy, profile, model string

	method, api, outcome, step, call, trigger, rung, result, reason, state, tokens string
}

// keys are in the order of [labels.values].
var keys = [...]attribute.Key{
	"strategy", "profile", "model", "method", "api", "outcome", "step", "call", "trigger", "rung", "result", "reason",
	"state", "type",
}

func (l labels) values() [len(keys)]string {
	return [...]string{
		l.strategy, l.profile, l.model, l.method, l.api, l.outcome, l.step, l.call, l.trigger, l.rung, l.result,
		l.reason, l.state, l.tokens,
	}
}

// options are a set of attributes as instruments take it.
type options struct {
	add     []metric.AddOption
	record  []metric.RecordOption
	observe metric.ObserveOption
}

// maxNames bounds the series for strategies, profiles and models: a long session can be set to any number of them.
const maxNames = 100

const other = "other"

// attributes caches sets: building one takes longer than recording with it. The zero value is ready.
type attributes struct {
	mu    sync.RWMutex
	known map[labels]*options
	names [3]map[string]bool // strategies, profiles, models
}

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

// bounded returns the name, or other after too many names of its kind. The caller holds mu.
func (a *attributes) bounded(kind int, name string) string {
	if name == "" || a.names[kind][name] {
		return name
	}
	if len(a.names[kind]) >= maxNames {
		return other
	}
	if a.names[kind] == nil {
		a.names[kind] = map[string]bool{}
	}
	a.names[kind][name] = true
	return name
}

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
