package body

import "github.com/thresh-dev/thresh/sdk/content"

// leastRecalled is from what size on, in bytes, a result gets an id where it was: one of a few lines is read again as
// cheaply by running its tool.
const leastRecalled = 400

// MarkRecall puts a mark behind each text that stands for a result, and returns these results as the client sent them.
// mark makes it of the id of a call: the same mark for the same call each time, so that the beginning of a request
// stays as it was sent.
func (p *Plan) MarkRecall(mark func(call string) string) []content.ToolResponse {
	var results []content.ToolResponse
	for i, f := range p.fates {
		if f.gone {
			continue
		}
		for j, text := range f.texts {
			was, ok := p.entries[i].Content.Blocks[j].(content.ToolResponse)
			if !ok || len(was.Result) < leastRecalled {
				continue
			}
			f.texts[j] = text + mark(was.CallID)
			results = append(results, was)
		}
	}
	return results
}
