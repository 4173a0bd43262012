package sdktest_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

// failures collects what a helper says.
type failures struct {
	testing.TB
	said []string
}

func (f *failures) Helper() {}

func (f *failures) Errorf(format string, args ...any) {
	f.said = append(f.said, fmt.Sprintf(format, args...))
}

func TestWhatShouldRemain(t *testing.T) {
	says := func(text string) sdk.Content {
		return sdk.Content{Speaker: sdk.AI, Blocks: []sdk.Block{sdk.Text{Text: text}}}
	}
	given := []sdk.Content{says("one"), says("two"), says("one"), says("four")}
	after := []sdk.Content{given[0].WithOrigin(0), says("made up"), says("4").WithOrigin(3)}
	f := &failures{TB: t}
	sdktest.Remains(f, given, after, 0, 1, 2, -1, 9)
	sdktest.Remains(f, given, given, 0, 1, 2, -1) // as after a no-op
	sdktest.RemainsText(f, after, "made", "two")
	if diff := cmp.Diff([]string{
		`entry 1 (ai) should remain and is gone: {"speaker":"ai","blocks":[{"type":"text","text":"two"}]}`,
		`entry 2 (ai) should remain and is gone: {"speaker":"ai","blocks":[{"type":"text","text":"one"}]}`,
		`entry 3 (ai) should remain as it was: was {"speaker":"ai","blocks":[{"type":"text","text":"four"}]}, ` +
			`came {"speaker":"ai","blocks":[{"type":"text","text":"4"}]}`,
		`entry 9 should remain, but the history that was given has 4 entries`,
		`"two" should remain and stands in none of the 3 entries that are left`,
	}, f.said); diff != "" {
		t.Error(diff)
	}
}
