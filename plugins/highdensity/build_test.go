package highdensity

import (
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk"
)

var call, answer, said = gen.Call, gen.Answer, gen.Said

// histories draws histories in which much can be pruned, and malformed ones.
func histories() *rapid.Generator[[]sdk.Content] {
	return rapid.OneOf(gen.Busy(), gen.History(gen.Options{Malformed: true, MediaBlocks: true}))
}
