package tools

import (
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Outcome is how a call ended, in the words that a result cut to one line uses.
type Outcome string

const (
	// OutcomeSuccess: the response has no sign of anything else.
	OutcomeSuccess Outcome = "success"
	// OutcomeError: the call failed, was refused or timed out.
	OutcomeError Outcome = "error"
	// OutcomeRunning: the response came before the command ended.
	OutcomeRunning Outcome = "still running"
	// OutcomeUnknown: the agent never says how a command ended, or the response no longer holds what it said.
	OutcomeUnknown Outcome = "outcome unknown"
)

// Verdict is what a response shows of its call.
type Verdict struct {
	Outcome Outcome
	// Task is the name of a command that is still running, by which later calls ask for it ([Use.Task]); "" if it has
	// none.
	Task string
}

// Judge says how a call ended, as far as its response shows. It is the one place that decides this. In this order:
//
//   - The response has an error, if the agent sets it, or a member of the result says so.
//   - One of its first or last lines says it: a rule for the tool that fits the call knows the line, or all agents
//     share it. The lines between are output, and may say anything.
//   - The result begins like a failure. What a tool read, found or fetched may say anything, so only the rules for the
//     tool count there. For a call that writes files, all signs count by which agents commonly report a failure:
//     taking a failed write for a success would lose what is known of the file.
//
// A result that was pruned or cut where such a sign would be is [OutcomeUnknown], and so is one of a tool that says in
// other words that it wrote ([Failure.Done]), and the few lines of a shell that may say that its command was not run.
//
// call is the call that r answers; if it is lost, one with the tool's name alone. The cost is linear in the result.
func (t *Taxonomy) Judge(call content.ToolCall, r content.ToolResponse) Verdict {
	if r.Error != "" {
		return Verdict{Outcome: OutcomeError}
	}
	var room [8]member
	var p params
	var rules []*rule
	if t != nil {
		p = scan(room[:0], call.Parameters, t.want)
		for rule := range t.named(call.Name) {
			if rule.fits(p) {
				rules = append(rules, rule)
			}
		}
	}
	j := judge{of: newResult(r)}
	for _, rule := range rules {
		if rule.failure != nil {
			j.own = append(j.own, rule.failure)
		}
	}
	common := commonSigns()
	j.common, j.write = common.every, common.write
	asks := false
	if len(rules) > 0 {
		first := rules[0]
		j.content = first.class == ClassRead || first.class == ClassSearch || first.class == ClassWeb
		j.read = first.class == ClassRead
		j.writes, j.shell = first.writes(p), first.class == ClassShell
		asks = slices.ContainsFunc(first.continues, func(l locator) bool { return l.any(p) })
	}
	v, stated := j.verdict()
	switch {
	case v.Outcome != OutcomeSuccess || stated:
	case asks: // it shows what the command has printed so far
		v.Outcome = OutcomeUnknown
	case len(rules) > 0 && rules[0].class == ClassShell && background(p):
		v.Outcome = OutcomeRunning
	}
	return v
}

// Failed reports whether a call ended in an [OutcomeError], as [Taxonomy.Judge] says.
func (t *Taxonomy) Failed(call content.ToolCall, r content.ToolResponse) bool {
	return t.Judge(call, r).Outcome == OutcomeError
}

// backgrounds are the parameters by which agents send a command to the background.
var backgrounds = [...]string{"run_in_background", "is_background", "isBackground", "background", "detach"}

func background(p params) bool {
	return slices.ContainsFunc(backgrounds[:], func(name string) bool { return string(p.get(name)) == "true" })
}

type judge struct {
	of            *result
	own           []*signs // of the rules for the tool
	common, write *signs
	read, content bool // the result holds a file, or something found elsewhere
	writes, shell bool
}

func (j *judge) verdict() (v Verdict, stated bool) {
	success, failure := Verdict{Outcome: OutcomeSuccess}, Verdict{Outcome: OutcomeError}
	if o, ok := j.lined(); ok {
		return Verdict{Outcome: o}, true
	}
	all := append(slices.Clip(j.own), j.common)
	if j.writes {
		all = append(all, j.write)
	}
	if failed, exited := j.fields(all); failed {
		return failure, true
	} else if exited {
		return success, true
	}
	if v, ok := j.lines(j.own); ok {
		return v, true
	}
	if j.begins(j.own) || j.tagged() {
		return failure, true
	}
	if !j.content {
		if v, ok := j.lines(all[len(j.own):]); ok {
			return v, true
		}
		if j.begins(all[len(j.own):]) {
			return failure, true
		}
	}
	if j.cut() || j.silent() || j.writes && j.doubtful() || j.shell && j.refused() {
		return Verdict{Outcome: OutcomeUnknown}, true
	}
	return success, false
}

// fields looks at the members of the result. An object in a text that was read is a part of the file.
func (j *judge) fields(all []*signs) (failed, exited bool) {
	objects := j.of.objects
	if j.read {
		objects = objects[:j.of.parsed]
	}
	for _, o := range objects {
		for _, s := range all {
			f, e := s.inObject(o)
			failed, exited = failed || f, exited || e
		}
	}
	// For a file that was read, the members that the agent knows decide.
	if j.read {
		for _, o := range j.of.objects[j.of.parsed:] {
			for _, s := range j.own {
				f, e := s.inObject(o)
				failed, exited = failed || f, exited || e
			}
		}
	}
	return failed, exited
}

// lines looks for a line that says how the call ended: the first of the first lines, else the last of the last ones.
func (j *judge) lines(all []*signs) (Verdict, bool) {
	outcome := func(code int) (Verdict, bool) {
		if code != 0 {
			return Verdict{Outcome: OutcomeError}, true
		}
		return Verdict{Outcome: OutcomeSuccess}, true
	}
	for i := range j.of.texts {
		t := &j.of.texts[i]
		for line := range t.first() {
			for _, s := range all {
				if code, ok := exitCode(s.exitLine, line); ok {
					return outcome(code)
				}
				if id, ok := matchAny(s.running, line); ok {
					return Verdict{Outcome: OutcomeRunning, Task: id}, true
				}
			}
		}
	}
	for i := range j.of.texts {
		t := &j.of.texts[i]
		for line := range t.last() {
			for _, s := range all {
				if code, ok := exitCode(s.lastExitLine, line); ok {
					return outcome(code)
				}
				if _, ok := matchAny(s.lastLine, line); ok {
					return Verdict{Outcome: OutcomeError}, true
				}
				if id, ok := matchAny(s.running, line); ok {
					return Verdict{Outcome: OutcomeRunning, Task: id}, true
				}
			}
		}
	}
	return Verdict{}, false
}

func (j *judge) begins(all []*signs) bool {
	for i := range j.of.texts {
		for _, s := range all {
			if s.inText(&j.of.texts[i]) {
				return true
			}
		}
	}
	return false
}

// tagged reports whether a text is in a tag that means failure to all agents.
func (j *judge) tagged() bool {
	for i := range j.of.texts {
		if j.common.inTag(&j.of.texts[i]) {
			return true
		}
	}
	return false
}

func (j *judge) silent() bool {
	all := j.own
	if !j.content {
		all = append(slices.Clip(j.own), j.common)
	}
	for i := range j.of.texts {
		for line := range j.of.texts[i].last() {
			for _, s := range all {
				if _, ok := matchAny(s.silent, line); ok {
					return true
				}
			}
		}
	}
	return false
}

// doubtful reports whether the result of a tool of which it is known how it says that it wrote says something else: in
// neither its words nor those that any tool may use.
func (j *judge) doubtful() bool {
	known, says := false, false
	for i := range j.of.texts {
		if slices.Contains([]string{"ok", "done"}, strings.TrimRight(j.of.texts[i].head, ".! ")) {
			return false
		}
		for line := range j.of.texts[i].first() {
			says = says || strings.TrimSpace(line) != ""
			if _, ok := matchAny(j.write.done, line); ok {
				return false
			}
			for _, s := range j.own {
				known = known || len(s.done) > 0
				if _, ok := matchAny(s.done, line); ok {
					return false
				}
			}
		}
	}
	return known && says
}

// How agents say that a command was not run has no end of forms: all of them name it or who decided, and what befell it.
var (
	refusedWhat = []string{"command", "tool", "user", "permission", "action", "operation", "request", "approval", "execution"}
	refusedHow  = []string{"reject", "refus", "denied", "deny", "declin", "approve", "not allow", "disallow", "not permit",
		"forbidden", "not execut", "not run", "n't execut", "n't run", "never ran", "cancel", "skipp", "block", "abort",
		"interrupt", "dismiss", "stopped", "not grant", "n't grant"}
)

// maxRefusal bounds what may be such a form, in bytes: output of a command that is as short is in doubt without need,
// which only keeps more.
const maxRefusal = 300

// refused reports whether all that a result says may be that its command was not run.
func (j *judge) refused() bool {
	for i := range j.of.texts {
		t := &j.of.texts[i]
		has := func(word string) bool { return strings.Contains(t.head, word) }
		if !t.long && len(t.head) <= maxRefusal && slices.ContainsFunc(refusedWhat, has) &&
			slices.ContainsFunc(refusedHow, has) {
			return true
		}
	}
	return false
}

// Pruned is the text in place of an old result. It tells the model how to get the result back.
const Pruned = "[Result pruned — re-run tool to retrieve]"

// Omission begins the marks for omitted lines.
const Omission = "[… "

// cut reports whether the result was pruned, or begins or ends with a mark: the sign of a failure may have been there.
func (j *judge) cut() bool {
	for i := range j.of.texts {
		t := &j.of.texts[i]
		if t.head == strings.ToLower(Pruned) || strings.HasPrefix(t.head, Omission) {
			return true
		}
		for line := range t.last() {
			if strings.HasPrefix(line, Omission) && strings.HasSuffix(line, "]") {
				return true
			}
			break
		}
	}
	return false
}

func (j *judge) lined() (Outcome, bool) {
	if len(j.of.texts) != 1 || j.of.texts[0].long {
		return "", false
	}
	return LineOutcome(j.of.texts[0].head)
}

// LineOutcome returns the outcome in a line in place of a result, "[read_file: src/index.ts — success, 245 lines]"; ok
// is false if the text is no such line.
func LineOutcome(line string) (o Outcome, ok bool) {
	if !strings.HasPrefix(line, "[") || strings.ContainsAny(line, "\r\n") {
		return "", false
	}
	rest, ok := strings.CutSuffix(line, "]")
	// The last one: a path or a command may hold the same characters.
	at := strings.LastIndex(rest, " — ")
	if !ok || at < 0 {
		return "", false
	}
	outcome, size, _ := strings.Cut(rest[at+len(" — "):], ", ")
	switch o = Outcome(outcome); o {
	case OutcomeSuccess, OutcomeError, OutcomeRunning, OutcomeUnknown:
	default:
		return "", false
	}
	count, unit, _ := strings.Cut(size, " ")
	n, err := strconv.ParseUint(count, 10, 63)
	return o, err == nil && (unit == "lines" && n != 1 || unit == "line" && n == 1)
}

// task returns the name of the running command that a call asks about. A number is compared by its digits.
func (r *rule) task(p params) string {
	l, ok := decide(r.continues, p)
	if !ok {
		return ""
	}
	for v := range l.values(p) {
		if s, ok := rawjson.Text(v); ok {
			return strings.ToLower(s)
		}
		return string(v)
	}
	return ""
}
