package samples

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Sample is a history with a name for error messages. An empty history is a sample too. The name is unique, and stays:
// reports of the conformance check show it.
type Sample struct {
	Name    string
	History []content.Content
	// Added is the history as it was added, entry by entry, before an earlier pass put marks into History; nil if none
	// did.
	Added []content.Content
}

// Plain is the name of the sample that is an unremarkable session, for checks in which the history is not the point.
const Plain = "plain session"

// All returns every sample but [Large]. Entries share texts and raw JSON: callers must not modify them.
func All() []Sample {
	out := []Sample{
		{Name: "empty"},
		{Name: "one entry of a person", History: []content.Content{human("hello")}},
		{Name: "one entry of the model", History: []content.Content{ai(text("hello"))}},
		// 120 entries are enough for every rule of pruning to apply at least once.
		{Name: Plain, History: session(120, 1)},
		{Name: "orphaned responses", History: orphans()},
		{Name: "unanswered calls", History: unanswered()},
		{Name: "repeated ids", History: repeatedIDs()},
		{Name: "unknown blocks and speakers", History: unknown()},
		{Name: "odd Unicode", History: unicodeOddities()},
		{Name: "odd JSON", History: jsonOddities()},
		{Name: "file inclusions", History: inclusions()},
		{Name: "pinned entries", History: pinned()},
		{Name: "media and thinking", History: media()},
		{Name: "thoughts and failures", History: failures()},
		{Name: "long runs", History: longRuns()},
		{Name: "many calls in one entry", History: manyCalls()},
		{Name: "entries without blocks", History: withoutBlocks()},
		{Name: "10,000 entries", History: session(10_000, 2)},
	}
	for _, m := range Matters() {
		out = append(out, m.History(1))
	}
	out = append(out, Mixed(Matters(), 1))
	// Ten, as each costs every strategy a call in every check.
	for seed := uint64(1); seed <= 10; seed++ {
		out = append(out, Sample{Name: fmt.Sprint("mixed ", seed), History: mixed(seed)})
	}
	return out
}

// More returns further histories of what a strategy reacts to. reacts says whether it did in one of those of [All].
func More(reacts func(name string) bool) (out []Sample) {
	var matters []Matter
	for _, m := range Matters() {
		if reacts(m.History(1).Name) {
			matters = append(matters, m)
			out = append(out, m.History(2))
		}
	}
	if len(matters) > 0 {
		out = append(out, Mixed(matters, 2), Mixed(matters, 3))
	}
	return out
}

// mixed concatenates parts of the other samples, so that unrelated exchanges use the same ids. What a strategy
// remembers by id must then be wrong.
func mixed(seed uint64) []content.Content {
	rnd := rand.New(rand.NewPCG(seed, 99))
	parts := [][]content.Content{
		orphans(), unanswered(), repeatedIDs(), unknown(), unicodeOddities(), jsonOddities(), inclusions(), media(),
		session(20, seed), session(8, 1), {human("go on")},
	}
	var out []content.Content
	for range 6 {
		part := parts[rnd.IntN(len(parts))]
		// Cut at the front, so that responses lose their calls now and then.
		from := rnd.IntN(len(part))
		out = append(out, part[from:]...)
	}
	return out
}

// The helpers below make one entry or block each, without metadata: samples are read by people.
func text(s string) content.Block { return content.Text{Text: s} }

func human(s string) content.Content {
	return content.Content{Speaker: content.Human, Blocks: []content.Block{text(s)}}
}

func ai(blocks ...content.Block) content.Content {
	return content.Content{Speaker: content.AI, Blocks: blocks}
}

func tool(blocks ...content.Block) content.Content {
	return content.Content{Speaker: content.Tool, Blocks: blocks}
}

func call(id, name string, params any) content.ToolCall {
	raw, err := json.Marshal(params)
	if err != nil {
		panic(err) // params are literals in this package
	}
	return content.ToolCall{ID: id, Name: name, Parameters: raw}
}

func read(id, path string) content.ToolCall {
	return call(id, "read_file", map[string]string{"file_path": path})
}

func answer(c content.ToolCall, result string) content.ToolResponse {
	return content.ToolResponse{CallID: c.ID, ToolName: c.Name, Result: content.String(result)}
}

// session is an agent's work on a handful of files: questions, reads, writes that supersede them, some of which fail,
// and commands. Equal arguments give equal sessions. The last exchange may be cut.
func session(entries int, seed uint64) []content.Content {
	rnd := rand.New(rand.NewPCG(seed, 1))
	out := []content.Content{human("The parser drops the last line of a file without a newline. Find out why, and " +
		"mend it.")}
	for i := 1; len(out) < entries; i++ {
		if i%9 == 0 {
			out = append(out, human(fmt.Sprintf("Request %d: leave the tests in folder %d alone, and tell me when "+
				"you are done.", i, rnd.IntN(50))))
		}
		// A dozen files, so that writes supersede earlier reads.
		id, path := fmt.Sprintf("call_%d", i), fmt.Sprintf("/w/src/file%d.go", rnd.IntN(12))
		c, result := read(id, path), strings.Repeat(fmt.Sprintf("line of %s, version %d\n", path, i), 4+rnd.IntN(30))
		switch rnd.IntN(4) {
		case 0:
			c, result = call(id, "write_file", map[string]string{"file_path": path, "content": "package a\n"}), "ok"
		case 1:
			c = call(id, "run_shell_command", map[string]string{"command": "go test ./..."})
		}
		r := answer(c, result)
		if rnd.IntN(8) == 0 {
			r.Result, r.Error = content.String("permission denied"), "permission denied"
		}
		out = append(out, ai(text(fmt.Sprintf("Step %d: looking at %s.", i, path)), c), tool(r))
	}
	return out[:entries]
}

// Large returns a session of about the given number of bytes: many results of ordinary size and a few of 1 MiB.
// Together they show whether memory and time grow linearly in the size of the history and of a single result. A
// strategy that holds two copies of the history takes twice this; the check on memory allows for several.
func Large(bytes int) Sample {
	var out []content.Content
	// Results of 20 kB, every fortieth of 1 MiB.
	for size, i := 0, 0; size < bytes; i++ {
		n := 20_000
		if i%40 == 7 {
			n = 1 << 20
		}
		n = min(n, bytes)
		c := read(fmt.Sprint("l", i), fmt.Sprintf("/w/src/big%d.go", i%30))
		line := fmt.Sprintf("%06d\tif err := step(ctx, %d); err != nil { return err }\n", i, i*7)
		out = append(out, human(fmt.Sprintf("Request %d: go on with file %d.", i, i%30)), ai(text("Reading on."), c),
			tool(answer(c, strings.Repeat(line, n/len(line)))))
		size += n
	}
	return Sample{Name: fmt.Sprintf("%.0f MB", float64(bytes)/(1<<20)), History: out}
}
