package body

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/provider"
)

// What the model does not read, or reads as a picture, would hide what was left out of the text.
func TestOfAnAttachmentOnlyAFewBytesCount(t *testing.T) {
	const image = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"%s"}}`
	const body = `{"messages":[%s{"role":"user","content":[{"type":"text","text":"See."},%[2]s]},{"role":"assistant",` +
		`"content":[{"type":"tool_use","id":"t","name":"look","input":{}}]},{"role":"user","content":[{"type":` +
		`"tool_result","tool_use_id":"t","content":[{"type":"text","text":"It is:"},%[2]s]}]}],"tools":[{"name":"look"}]}`
	const before = `{"role":"user","content":"Long ago."},`
	const summary = `{"role":"assistant","content":[{"type":"compaction","content":"Well."}]},`
	sized := func(before string, data int) int {
		return index(t, provider.Messages, fmt.Sprintf(body, before, fmt.Sprintf(image, strings.Repeat("A", data)))).Size()
	}
	small := sized("", 100)
	if large := sized("", 1_000_000); large > small+2*attachmentBytes || large != sized("", 50_000) {
		t.Errorf("%d bytes of a request with two images, %d without their data", large, small-200)
	}
	if got := sized(before+summary, 100); got != small+len(summary) {
		t.Errorf("%d bytes count behind a summary, of %d", got, small+len(summary))
	}
}
