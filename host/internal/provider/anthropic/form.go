// Package anthropic is Anthropic's Messages API.
package anthropic

import (
	"strings"
	"time"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Form describes the API. Messages of the role "system" may stand inside of the conversation.
var Form = provider.Form{
	API: provider.Messages, List: "messages", Skip: []string{"system", "tools"},
	Continued: []string{"thread"}, Compacts: "compaction", MaxOutput: []string{"max_tokens"},
	SessionAt: "metadata.user_id", SessionID: sessionID,
	Roles: []provider.Role{{Name: "user", Speaker: content.Human}, {Name: "assistant", Speaker: content.AI},
		{Name: "system", Speaker: content.Human, Pinned: true}},
	Content: "content", ContentText: true, MayBeEmpty: true, Parts: parts,
	BeginsWithUser: true, Sections: true, Assistant: "assistant", TextType: func(content.Speaker) string { return "text" },
	Counts: counts, Calls: calls, Plan: plan, TooLong: tooLong,
	Unsealed: unsealed, SealAt: "thinking.block_binding.prefix_mismatch_behavior", ThinkAt: "thinking.type",
	Ask: ask, Hear: hear, Server: "https://api.anthropic.com", Path: "v1/messages",
}

// plan reads the headers that Claude's subscriptions have: a share from 0 to 1, and seconds since 1970.
func plan(header func(name string) string) (all []provider.Window) {
	const named = "Anthropic-Ratelimit-Unified-"
	for _, w := range []struct {
		name   string
		length time.Duration
	}{{"5h", 5 * time.Hour}, {"7d", 7 * 24 * time.Hour}} {
		if told, ok := provider.ReadWindow(w.length, header(named+w.name+"-Utilization"), 1, header(named+w.name+"-Reset")); ok {
			all = append(all, told)
		}
	}
	return all
}

// Version is the API's only version, which a request must name.
const Version = "2023-06-01"

// sessionID reads Claude Code's name of the session: it writes an object as a string here.
func sessionID(user string) string {
	if !strings.HasPrefix(user, "{") {
		return ""
	}
	return rawjson.FieldText([]byte(user), "session_id")
}
