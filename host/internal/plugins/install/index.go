package install

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
)

// Listed is a plugin of an index, which is a JSON array of these.
type Listed struct {
	Name string `json:"name"`
	// Source is what 'plugins install' takes; "" for a strategy that is built in.
	Source  string          `json:"source,omitempty"`
	Does    string          `json:"does"`
	Trigger sdk.TriggerMode `json:"trigger"`
	// Key is the publisher's public key of minisign; "" if releases are not signed.
	Key string `json:"key,omitempty"`
}

// Search returns the plugins of the index with all words in their names, sources or descriptions, in its order.
func (in *Installer) Search(ctx context.Context, words ...string) (found []Listed, err error) {
	dir, file := files(localFiles(filepath.Dir(in.Index))), filepath.Base(in.Index)
	if u, err := url.Parse(in.Index); err == nil && secure(u) {
		dir, file = webFiles{in.web, u}, ""
	}
	text, err := read(ctx, dir, file)
	if err == nil && text == nil {
		err = errors.New("there is nothing")
	}
	var all []Listed
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(text))
		if err = decoder.Decode(&all); err != nil {
			err = fmt.Errorf("it is no index: %w", err)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("plugins.index: %s: %w", in.Index, err)
	}
	for _, l := range all {
		if !sdk.ValidName(l.Name) {
			return nil, fmt.Errorf("plugins.index: %s: it is no index: it has a plugin with the name %q", in.Index, l.Name)
		}
		about := strings.ToLower(strings.Join([]string{l.Name, l.Source, l.Does, cmp.Or(string(l.Trigger), "")}, " "))
		missing := false
		for _, word := range words {
			missing = missing || !strings.Contains(about, strings.ToLower(word))
		}
		if !missing {
			found = append(found, l)
		}
	}
	return found, nil
}
