package shell

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/hostile"
)

// hostileCommands begin with ">", or the analysis could see at once that nothing can be told.
var hostileCommands = []hostile.Text{
	{Open: "$(("}, {Open: "$(", Middle: "a", Close: ")"}, {Open: "(("}, {Open: "( "},
	{Open: "(", Middle: "a", Close: ")"}, {Open: "$(((((((("}, {Open: "$(($("}, {Open: "<("}, {Open: ">("},
	{Open: "`"}, {Open: "\\`"}, {Open: `"$(`}, {Open: "${a:-"}, {Open: "${a:-", Middle: "a", Close: "}"},
	{Open: `"${a:-`}, {Open: "${a/"}, {Open: "a["}, {Open: "((a["}, {Open: "a=(["}, {Open: "{ "},
	{Open: "{ ", Middle: "a;", Close: "}"}, {Open: "if "}, {Open: "if a; then ", Middle: "a", Close: ";fi"},
	{Open: "while "}, {Open: "for a in b; do "}, {Open: "case a in a) "}, {Open: "case a in (a) a;; "},
	{Open: "f()"}, {Open: "function f "}, {Open: "time "}, {Open: "coproc "}, {Open: "! "}, {Open: "[[ ( "},
	{Open: "[[ ! "}, {Open: "! ", Middle: "[[ "}, {Open: "a && ", Middle: "[[ "}, {Open: "let a="},
	{Open: "a&&"}, {Open: "cat a&&"}, {Open: "cat a &&", Middle: "b>c"}, {Open: "a||"},
	{Open: "a || exit 1 && ", Middle: "b>c"}, {Open: "a|"}, {Open: "a|", Middle: "a"},
	{Open: "a|&", Middle: "a"}, {Open: "a;"}, {Open: "a>b;"}, {Open: "a&"}, {Open: "a\n"},
	{Open: "elif a; then a;", Middle: "fi"}, {Open: "cat <<a\n"}, {Open: "<<a "}, {Open: "<<'a' "},
	{Open: "<<-a\n\t"}, {Open: "cd a;"}, {Open: "cd a;cat b;"}, {Open: "cd /a\ncat b c d\n"},
	{Open: "cat -a "}, {Open: "-a "}, {Open: "a "}, {Open: ">a "}, {Open: "\\"}, {Open: "'"}, {Open: `"`},
	{Open: "@("}, {Open: "#"}, {Open: "a="}, {Open: "\x00"}, {Open: "é"}, {Open: "\xff"}, {Open: "exit;"},
	{Open: "{ exit;", Middle: "a;", Close: "}"}, {Open: "set -e;"},
}

// before are the beginnings of commands in which the same text means other things.
var before = []string{
	">a ", "cat ", "rm ", "echo $((", "((", "[[ ", "cat <<a\n", `"$`, "if a; then a;", "let ", "a=(", "sed -n ",
}

// A model, a client or a recording may hold any text as a command: it must never end the process or occupy it.
func FuzzEffects(f *testing.F) {
	for i, made := range hostileCommands {
		f.Add(before[i%len(before)], made.Open, made.Middle, made.Close)
	}
	for _, command := range []string{
		"cat a | head -3", "cat > a <<'E'\nx\nE", "sed -i s/a/b/ c && rm -- d", "cd && cat 'x",
	} {
		f.Add(command, "", "", "")
	}
	f.Fuzz(func(t *testing.T, start, open, middle, closing string) {
		made := hostile.Text{Start: start, Open: open, Middle: middle, Close: closing}
		hostile.Check(t, made, func(command string) { Effects(command, "/w") })
		once := start + open + middle + closing
		if o := Effects(once, "/w"); strings.Contains(fmt.Sprint(o), "$(") && !strings.ContainsAny(once, `'\`) {
			t.Errorf("%q: an expansion is taken for a path: %v", once, o)
		}
	})
}

func TestWhatIsOverABoundHasNoKnownEffects(t *testing.T) {
	write := func(n int) string { return "cat > a <<'E'\n" + strings.Repeat("(((\n", n/4) + "E" }
	nested := func(n int) string { return strings.Repeat("{ ", n) + "echo > a" + strings.Repeat(";}", n) }
	files := func(n int) string { return "rm" + strings.Repeat(" a", n) }
	chain := func(n int) string { return strings.Repeat("a && ", n) + "echo > a" }
	below := func(n int) string { return "cd " + strings.Repeat("d", n) + " && echo > a" }
	for name, tt := range map[string]struct {
		within, over string
	}{
		"length":        {write(maxCommand - 50), write(maxCommand)},
		"nesting":       {nested(maxDepth/2 - 5), nested(maxDepth)},
		"operators":     {chain(maxDepth/2 - 5), chain(maxDepth)},
		"files":         {files(maxFiles), files(maxFiles + 1)},
		"the directory": {below(maxPath - 10), below(maxPath)},
	} {
		if brief(Effects(tt.within, "/w")) == "" {
			t.Errorf("%s: nothing is known of a command within the bound", name)
		}
		if got := Effects(tt.over, "/w"); brief(got) != "" {
			t.Errorf("%s: over the bound, got %.100s", name, brief(got))
		}
	}
	if got := Effects("echo > a", strings.Repeat("/d", maxPath)); brief(got) != "" {
		t.Errorf("in a directory that no system has: %.100s", brief(got))
	}
}

func BenchmarkEffects(b *testing.B) {
	for _, made := range []hostile.Text{
		{Open: "$(("}, {Open: "cat a&&"}, {Open: "cat a&&", Middle: "b"}, {Open: "a||", Middle: "b"},
		{Open: "{ "}, {Open: "f()"}, {Open: "a["}, {Open: "echo a > b;"},
	} {
		for _, n := range []int{1 << 10, 100 << 10, 1 << 20} {
			command := ">a " + made.Of(n)
			b.Run(fmt.Sprintf("%s/%dkB", made.Open, n>>10), func(b *testing.B) {
				b.SetBytes(int64(len(command)))
				b.ReportAllocs()
				for b.Loop() {
					Effects(command, "/w")
				}
			})
		}
	}
}
