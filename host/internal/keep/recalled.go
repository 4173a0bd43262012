package keep

import (
	"bytes"
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
	sentences "github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Recalled is the rule of what the model read again. It stays until a person speaks, so nothing is removed, read again
// and removed again in one exchange. Where the bound is too small for all of it, the newest stays.
const Recalled = tools.Recall

// recall is an entry with something that the model read again.
type recall struct {
	id, caller string // its entry, and that of the last call that is counted in tokens
	tokens     int
}

// recalling reports whether a block is a call that reads again what was removed, or a script that may do so.
func recalling(b content.Block) bool {
	c, ok := b.(content.ToolCall)
	return ok && (tools.Recalls(c.Name) || bytes.Contains(c.Parameters, []byte(tools.Recall)))
}

// recall takes in a result. Of a script it counts if it has something that the host has sealed.
func (k *Keeper) recall(e Entry, c call, r content.ToolResponse) {
	script := !tools.Recalls(c.Name)
	if !c.recalls || script && (k.set.Seal == nil || !sentences.HasRecalled(r.ResultText(), k.set.Seal)) {
		return
	}
	last := recall{id: e.ID, tokens: e.Tokens}
	if n := len(k.recalls); n > 0 && k.recalls[n-1].id == e.ID {
		last, k.recalls = k.recalls[n-1], k.recalls[:n-1]
	} else if n > 0 && k.recalls[n-1].caller == c.entry {
		last.caller = c.entry
	}
	if last.caller != c.entry {
		last.caller, last.tokens = c.entry, last.tokens+c.tokens
	}
	k.recalls = append(k.recalls, last)
}

func (k *Keeper) isRecall(e Entry) bool {
	n := len(k.recalls)
	return n > 0 && k.recalls[n-1].id == e.ID
}

// admitRecalls keeps the newest of what was read again, as far as the bound allows beside what rules keep. What is too
// large by itself does not push out the rest.
func (k *Keeper) admitRecalls() {
	if len(k.recalls)+len(k.recalled) == 0 {
		return
	}
	now := map[string]bool{}
	left := k.bound - k.used
	for _, r := range slices.Backward(k.recalls) {
		if r.tokens > k.bound-k.used {
			continue
		}
		if left -= r.tokens; left < 0 {
			break
		}
		now[r.id] = true
	}
	for id := range k.recalled {
		if !now[id] {
			k.moved[id] = true
		}
	}
	for id := range now {
		if !k.recalled[id] {
			k.moved[id] = true
		}
	}
	k.recalled = now
}

// LetGo keeps nothing of what was read again so far: the request does not fit with it.
func (k *Keeper) LetGo() {
	k.recalls = nil
	k.admitRecalls()
}
