package statements

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
)

// verdict is whether a call failed, as far as anyone can tell from its result.
type verdict int

const (
	unclear verdict = iota
	yes
	no
)

// exits finds how a program ended, in the words of many agents, on a line of its own.
var exits = lazily(`(?im)^\W*(?:the command |process |command )?(?:completed |finished |exited |failed )?` +
	`(?:with )?(?:exit[ _-]?code|exit status|returncode|return code)\W{0,3}(-?[0-9]+)\W*(?:</\w+>)?$`)

// trouble are words without which nothing says that a call failed.
var trouble = lazily(`(?i)error|fail|fatal|exit|exception|traceback|denied|refus|reject|not found|` +
	`no such|not been|timed? ?out|interrupt|cancel|abort|invalid|unable|cannot|can't|could not|couldn't|must |missing|unknown|` +
	`does not|doesn't|doesn’t|exceed|too large|wasted|nothing to|declin|killed|panic|returncode|limit`)

// runs finds what tools say when they answer before a program has ended.
var runs = lazily(`(?i)^\W*(?:process|command) (?:running with session id|running in background|` +
	`with shellid: \S+ is still running)`)

// running reports whether the program of a call runs on behind its answer.
func running(call content.ToolCall, r content.ToolResponse) bool {
	var parameters map[string]any
	_ = json.Unmarshal(call.Parameters, &parameters)
	for _, name := range []string{"run_in_background", "is_background", "isBackground", "background", "detach"} {
		if parameters[name] == true {
			return true
		}
	}
	for _, s := range content.Literals(r.Result) {
		if lines := strings.Split(s.Text, "\n"); slices.ContainsFunc(ends(lines), runs().MatchString) {
			return true
		}
	}
	return false
}

// judge tells whether a call failed, and by what.
func judge(r content.ToolResponse) (failed verdict, why string) {
	if v, why := judgeSigns(r); v != unclear {
		return v, why
	}
	if !trouble().Match(r.Result) {
		return no, "nothing in the result says so"
	}
	return unclear, ""
}

// judgeSigns is judge without a look at every word.
func judgeSigns(r content.ToolResponse) (failed verdict, why string) {
	if r.Error != "" {
		return yes, "the response has an error: " + r.Error
	}
	if v, why := judgeFields(r.Result); v != unclear {
		return v, why
	}
	// Which of several texts says how the call ended is the agent's affair.
	if all := content.Literals(r.Result); len(all) == 1 {
		return judgeText(all[0].Text, strings.Contains(strings.ToLower(r.ToolName), "read"))
	}
	return unclear, ""
}

// judgeText looks at a text of a result. content: it is what the tool read.
func judgeText(text string, content bool) (failed verdict, why string) {
	low := strings.ToLower(strings.TrimSpace(text))
	for _, begin := range []string{"error:", "<tool_use_error>", "command timed out", "error executing tool"} {
		if strings.HasPrefix(low, begin) {
			if content {
				return unclear, "" // a file may say so, too
			}
			return yes, "the result begins with " + begin
		}
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range ends(lines) {
		found := exits().FindStringSubmatch(strings.TrimSpace(line))
		switch {
		case found == nil:
		case found[1] == "0":
			return no, "the result says " + line
		default:
			return yes, "the result says " + line
		}
	}
	return unclear, ""
}

// ends are the first and the last lines of a result, where agents say how a call ended.
func ends(lines []string) []string {
	const first, last = 10, 6
	if len(lines) <= first+last {
		return lines
	}
	return append(lines[:first:first], lines[len(lines)-last:]...)
}

// judgeFields looks at the fields of a result that is an object, or a text that is one.
func judgeFields(result json.RawMessage) (verdict, string) {
	var text string
	if json.Unmarshal(result, &text) == nil {
		result = json.RawMessage(text)
	}
	var fields map[string]any
	if json.Unmarshal(result, &fields) != nil {
		return unclear, ""
	}
	for _, name := range []string{"error", "is_error", "isError", "interrupted", "timed_out", "timedOut"} {
		switch v := fields[name].(type) {
		case bool:
			if v {
				return yes, "the result has " + name
			}
		case string:
			if v != "" && name == "error" {
				return yes, "the result has an error: " + v
			}
		case map[string]any:
			if len(v) > 0 {
				return yes, "the result has an error"
			}
		}
	}
	code, known := exitCode(fields)
	if inner, ok := fields["metadata"].(map[string]any); ok && !known {
		code, known = exitCode(inner)
	}
	switch {
	case known && code != 0:
		return yes, "the result has an exit code that is not 0"
	case known:
		return no, "the result has the exit code 0"
	}
	return unclear, ""
}

func exitCode(fields map[string]any) (code float64, known bool) {
	for _, name := range []string{"exit_code", "exitCode", "exit", "returncode", "returnCode"} {
		if code, known = fields[name].(float64); known {
			return code, true
		}
	}
	return 0, false
}
