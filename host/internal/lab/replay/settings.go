package replay

import (
	"maps"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/window"
)

// The settings that a recording may decide.
const (
	keyRoot      = "workspace.root"
	keyLimit     = "model.contextLimit"
	keyModel     = "model.name"
	keyPriceList = "model.priceList"
)

// Settings returns the settings for a session with a recording: those given, and what the recording says of settings
// that nobody made, neither in given nor in the configuration of h. That is the directory in which the agent worked,
// where strategies must look for the files that it named; the model's window; and the price list of the model, by which
// pruning then decides.
func Settings(h *window.Host, t *transcript.Transcript, given map[string]any) map[string]any {
	c := h.Config()
	recorded := map[string]any{}
	if t.Dir != "" && open(c, given, keyRoot) {
		recorded[keyRoot] = t.Dir
	}
	if w := recordedWindow(t); w.Tokens != c.Settings().Model.ContextLimit && open(c, given, keyLimit) {
		recorded[keyLimit] = w.Tokens
	}
	if list := PriceList(h, t); list != nil && open(c, given, keyModel) && open(c, given, keyPriceList) {
		recorded[keyPriceList] = AsCached(t, list).Name // it decides when the cache counts as lost, and what a rewrite costs
	}
	if len(recorded) == 0 {
		return given
	}
	maps.Copy(recorded, given)
	return recorded
}

// PriceList returns the price list of the recorded model, nil if there is none or the configuration chooses one.
func PriceList(h *window.Host, t *transcript.Transcript) *pricing.List {
	c := h.Config()
	if t.Model == "" || !open(c, nil, keyModel) || !open(c, nil, keyPriceList) {
		return nil
	}
	named, err := c.With(keyModel, t.Model, "the recording")
	if err != nil {
		return nil
	}
	list, err := h.PriceList(named)
	if err != nil {
		return nil // no list is for that model
	}
	return list
}

// open reports whether a setting has its default and nobody chose it.
func open(c *config.Config, given map[string]any, key string) bool {
	_, ok := given[key]
	return !ok && c.Origin(key).Layer == config.LayerDefault
}
