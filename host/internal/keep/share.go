package keep

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// What is kept has a share of the window. It goes first to what people marked, then to what was kept before, then to the
// smallest.

// drop keeps an entry no more.
func (k *Keeper) drop(h *held) {
	if k.kept[h] {
		delete(k.kept, h)
		k.used, k.stays = k.used-h.tokens, k.stays-h.stays
		k.moved[h.id] = true
	}
}

// overrun is what did not fit the bound, of one rule.
type overrun struct {
	entries int
	first   string // names the first of them
}

// exceeds reports an entry as too much.
func (k *Keeper) exceeds(h *held) {
	h.over = h.rule()
	o := k.over[h.over]
	if o.entries++; o.first == "" {
		o.first = fmt.Sprintf("%s (%s, %d tokens)", h.what, h.id, h.tokens)
	}
	k.over[h.over] = o
}

// fits takes that back.
func (k *Keeper) fits(h *held) {
	if o, over := k.over[h.over]; over {
		if o.entries--; o.entries <= 0 {
			delete(k.over, h.over)
		} else {
			k.over[h.over] = o
		}
	}
	h.over = ""
}

// again asks the bound again for everything that a rule names.
func (k *Keeper) again() {
	k.fresh = slices.Collect(maps.Values(k.held))
	for _, h := range k.fresh {
		h.was = k.kept[h]
		h.first, h.over = h.first || h.was, ""
	}
	clear(k.over)
	clear(k.kept)
	k.used, k.stays = 0, 0
	k.admit()
}

// admit keeps what the bound allows of what is new.
func (k *Keeper) admit() {
	slices.SortFunc(k.fresh, func(a, b *held) int {
		switch {
		case a.first && !b.first:
			return -1
		case b.first && !a.first:
			return 1
		}
		return cmp.Or(cmp.Compare(a.tokens, b.tokens), cmp.Compare(a.number, b.number))
	})
	for _, h := range k.fresh {
		if len(h.by) == 0 || k.kept[h] || h.old == h.subjects() { // released since, or it waits for the newest
			continue
		}
		if k.room(h) || h.person() && k.makeRoom(h) {
			k.keep(h)
			continue
		}
		k.exceeds(h)
		for _, c := range h.heads {
			if c.headedBy(h) {
				k.instead(c)
			}
		}
	}
	for _, h := range k.fresh {
		if k.kept[h] != h.was {
			k.moved[h.id] = true
		}
	}
	k.fresh = nil
	k.admitRecalls()
}

// room reports whether an entry fits, with what it takes the place of gone.
func (k *Keeper) room(h *held) bool {
	tokens, stays := h.tokens, h.stays
	gone := map[*held]int{}
	for _, c := range h.heads {
		if !c.headedBy(h) {
			continue
		}
		for _, o := range c.old {
			if gone[o.held]++; gone[o.held] == o.subjects() && k.kept[o.held] {
				tokens, stays = tokens-o.tokens, stays-o.stays
			}
		}
	}
	return k.used+tokens <= k.bound && k.stays+stays <= 2*k.bound
}

// keep keeps an entry, and lets go of what it takes the place of.
func (k *Keeper) keep(h *held) {
	k.kept[h] = true
	k.used, k.stays = k.used+h.tokens, k.stays+h.stays
	for _, c := range h.heads {
		if c.headedBy(h) {
			k.forget(c, len(c.old))
		}
	}
	h.heads = slices.DeleteFunc(h.heads, func(c *chain) bool { return !c.headedBy(h) })
}

// instead keeps what an entry that does not fit was to take the place of: the newest of it that holds all and fits, and
// what came later, first what was kept before.
func (k *Keeper) instead(c *chain) {
	fits := func(o holder) bool {
		if !k.kept[o.held] && k.room(&held{tokens: o.tokens, stays: o.stays}) {
			k.keep(o.held)
		}
		return k.kept[o.held]
	}
	for i, o := range slices.Backward(c.old) {
		if o.whole && fits(o) {
			k.forget(c, i)
			break
		}
	}
	for _, was := range []bool{true, false} {
		for _, o := range c.old {
			if o.was == was {
				fits(o)
			}
		}
	}
	c.old = slices.DeleteFunc(c.old, func(o holder) bool {
		gone := !k.kept[o.held]
		if gone {
			o.old--
			k.release(o)
		}
		return gone
	})
}

// makeRoom lets go of the largest that only rules keep, if an entry fits then.
func (k *Keeper) makeRoom(h *held) bool {
	var others []*held
	tokens, stays := 0, 0
	for o := range k.kept {
		if !o.person() {
			others = append(others, o)
			tokens, stays = tokens+o.tokens, stays+o.stays
		}
	}
	if k.used-tokens+h.tokens > k.bound || k.stays-stays+h.stays > 2*k.bound {
		return false
	}
	slices.SortFunc(others, func(a, b *held) int {
		return cmp.Or(cmp.Compare(b.tokens, a.tokens), cmp.Compare(b.number, a.number))
	})
	for _, o := range others {
		if k.room(h) {
			break
		}
		k.drop(o)
		k.exceeds(o)
	}
	return true
}
