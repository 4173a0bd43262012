package body

import "github.com/thresh-dev/thresh/internal/check"

// recount makes the host's marks say what the request lacks: of what the view lacks, some stays because the API demands
// it. A mark for nothing goes.
func (p *Plan) recount() {
	left := p.made[:0]
	for _, m := range p.made {
		says, mark := check.GapOf(m.entry)
		if !mark {
			left = append(left, m)
			continue
		}
		var stays check.Gap
		for i := m.behind + 1; i < len(p.entries) && p.fates[i].shown == nil; i++ {
			e := p.entries[i]
			if !p.fates[i].gone {
				stays.Add(e.Content)
			}
		}
		if stays != (check.Gap{}) {
			says = says.Less(stays)
			m.entry = check.MarkGap(m.entry.Speaker, says)
		}
		if says != (check.Gap{}) {
			left = append(left, m)
		}
	}
	p.made = left
}
