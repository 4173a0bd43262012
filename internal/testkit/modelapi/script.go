package modelapi

import (
	"crypto/sha256"
	"slices"
	"strings"
)

// Turn is what the model does in one turn: the calls that it makes at once. An action that no tool of the request can
// do is left out; a turn without any left is passed over. A turn without actions is an answer, so that the user speaks.
type Turn []Action

// Action is one call. Which tool it calls, and with which parameters, depends on the tools of the request. The same
// script can drive any agent for that reason.
type Action struct {
	// Do is "read", "run", "edit", "delegate", "wait", "find" or "recall".
	Do string
	// Path is a file, Old and New what an edit replaces; Command is run by a shell. Query is what to recall.
	Path, Old, New, Command, Query string
}

// Read, Run and Edit are actions. Paths are relative to [Options.Dir].
func Read(path string) Action           { return Action{Do: "read", Path: path} }
func Run(command string) Action         { return Action{Do: "run", Command: command} }
func Edit(path, old, new string) Action { return Action{Do: "edit", Path: path, Old: old, New: new} }

// Delegate starts a subagent. What it does is in the turns that follow, as its requests come between the agent's.
func Delegate() Action { return Action{Do: "delegate"} }

// Wait waits for the subagent, where the agent goes on while that works.
func Wait() Action { return Action{Do: "wait"} }

// Recall asks for the result that was removed last, by the id that stands in its place. Without such a place, or the
// tool, nothing is done.
func Recall() Action { return Action{Do: "recall"} }

// Search asks for what was removed by words.
func Search(words string) Action { return Action{Do: "recall", Query: words} }

// Find loads the tool for [Recall], where the agent offers the tools of MCP servers only to a model that has searched
// for them.
func Find() Action { return Action{Do: "find"} }

// FixIt is a script that mends the project of [Project]: it looks, runs the test, edits, looks again and tests. Every
// kind of action is in it, a result that is large, two calls at once, and a file that is read twice, which makes the
// first reading obsolete.
func FixIt() []Turn {
	return []Turn{
		{Read("calc.py")}, {Run("python3 test_calc.py")}, {Edit("calc.py", "return a - b", "return a + b")},
		{Read("calc.py")}, {Run("python3 test_calc.py")}, {Run("cat big.log")}, {Read("README.md"), Run("ls -la")},
		{Edit("README.md", "a tiny calculator", "a tiny, correct calculator")},
	}
}

// LongFix is FixIt with n large results in the middle, which are all of one file. n is how far the history grows beyond
// the limit.
func LongFix(n int) []Turn {
	return longFix(n, func(i int) string { return "head -c " + itoa(8000+i) + " big.log" })
}

// NewsFix is LongFix with results of which none has anything in common with another, so that a strategy must decide
// what is to go. They are what report.sh prints.
func NewsFix(n int) []Turn {
	return longFix(n, func(i int) string { return "sh report.sh " + itoa(i) })
}

func longFix(n int, command func(i int) string) []Turn {
	fix := FixIt()
	out := append([]Turn(nil), fix[:5]...)
	for i := range n {
		out = append(out, Turn{Run(command(i))})
	}
	return append(out, fix[7:]...)
}

// says returns what the model says to a prompt. A repeated body gets the same. The lock is held. A client that retries
// after a cut or a timeout must get the same turn, or the script would lose one.
func (s *Server) says(p prompt, body [sha256.Size]byte) []say {
	// Side questions, such as a title, have no tools. They must not take a turn of the script.
	if p.compacts || len(p.tools) == 0 {
		return []say{{text: sideAnswer}}
	}
	// By the order of requests and not by what they hold: a proxy may have removed earlier turns from them.
	step, again := s.steps[body]
	if !again {
		step = s.step
	}
	for ; step < len(s.options.Script); step++ {
		says := []say{{text: "Step " + itoa(step) + "."}}
		for _, a := range s.options.Script[step] {
			if c, ok := s.act(a, p); ok {
				c.id = s.id("call_")
				says = append(says, c)
			}
		}
		if len(says) > 1 || len(s.options.Script[step]) == 0 {
			// Turns that were passed over are done: the next request must not get this one again.
			s.steps[body], s.step = step, max(s.step, step+1)
			return says
		}
	}
	return []say{{text: "All done: the tests pass."}}
}

// summaries are words with which agents ask for a summary of the history, in order to begin a new one with it.
var summaries = []string{
	"Respond with TEXT ONLY",                             // Claude Code
	"CONTEXT CHECKPOINT COMPACTION",                      // Codex
	"Here is the conversation so far:",                   // opencode
	"<state_snapshot>",                                   // gemini-cli, qwen-code
	"context checkpoint summary", "the PREFIX of a turn", // pi
	"Summarize this session for continuation", // cline
}

// summary reports whether the last message of a request asks for a summary.
func summary(last any) bool {
	words := encoded(last)
	return slices.ContainsFunc(summaries, func(s string) bool { return strings.Contains(words, encodedText(s)) })
}

// encodedText is a text as it stands within encoded JSON.
func encodedText(s string) string { return strings.Trim(encoded(s), `"`) }

// sideAnswer is the answer to titles, topics and summaries; clients look for JSON or for tags in some of them. One text
// serves all of them.
const sideAnswer = `{"title":"Fix the calculator","isNewTopic":true,"summary":"The user asked to fix calc.py."}`
