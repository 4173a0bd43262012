package shell

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// brief renders what a command does: "reads a b, partly; writes c (whole)".
func brief(o tools.Files) string {
	var parts []string
	if len(o.Reads) > 0 {
		s := "reads " + strings.Join(o.Reads, " ")
		if o.Partial {
			s += " partly"
		}
		parts = append(parts, s)
	}
	for _, w := range o.Writes {
		s := "writes " + w.Path
		if w.Whole {
			s += " whole"
		}
		if w.Deletes {
			s = strings.Replace(s, "writes", "deletes", 1)
		}
		parts = append(parts, s)
	}
	if len(o.MayWrite) > 0 {
		parts = append(parts, "may write "+strings.Join(o.MayWrite, " "))
	}
	return strings.Join(parts, "; ")
}

func TestEffects(t *testing.T) {
	for command, want := range map[string]string{
		// Reads: the output is parts of files, and nothing else.
		`cat a.go`:                                "reads /w/a.go",
		`c"a"t a.go`:                              "reads /w/a.go",
		`ca\t a.go`:                               "reads /w/a.go",
		`cat -n 'a b' "c"`:                        "reads /w/a b /w/c",
		`sed -n '1,240p' /etc/x`:                  "reads /etc/x partly",
		`nl -ba a.go | sed -n '10,20p'`:           "reads /w/a.go partly",
		`head -n 20 a.go`:                         "reads /w/a.go partly",
		`tail -50 a.go`:                           "reads /w/a.go partly",
		`grep -n "x\|y" a.go b.go | head -20`:     "reads /w/a.go /w/b.go partly",
		`cd sub && cat a.go && echo --- && cat b`: "reads /w/sub/a.go /w/sub/b",
		`cd /x; sed -n 5p y`:                      "reads /x/y partly",
		`cat a.go 2>/dev/null`:                    "reads /w/a.go",
		`cat a.go | python x.py`:                  "",
		`cat a.go && go test ./...`:               "",
		`cat $F`:                                  "",
		`cat *.go`:                                "",
		`cat a.go || true`:                        "",
		`python x.py; X=1; cat a`:                 "",
		`X=1; cat a`:                              "reads /w/a",
		`cat ~/x`:                                 "",
		`cd "$D" && cat a.go`:                     "",
		`grep -rn x src`:                          "",
		`rg x`:                                    "",
		`rg -n x a.go`:                            "reads /w/a.go partly",
		`sed 's/a/b/' a.go`:                       "",
		`for f in a b; do cat $f; done; cat c`:    "",
		`cat <<'EOF'` + "\nx\nEOF":                "",
		`if true; then cat a; fi`:                 "",
		`cat a.go; cat 'unclosed`:                 "",
		// Writes: certain, if the command succeeded.
		"cat > a.go <<'EOF'\npackage a\nEOF":          "writes /w/a.go whole",
		"cat <<EOF > a.go\n$X\nEOF":                   "writes /w/a.go",
		"cat >> a.go <<'EOF'\nx\nEOF":                 "writes /w/a.go",
		"cd sub && cat > a <<'EOF'\nx\nEOF\npython a": "may write /w/sub/a", // the cd may have failed, unseen
		"cd sub && cat > a <<'EOF'\nx\nEOF":           "writes /w/sub/a whole",
		`go test ./... > out.txt 2>&1`:                "writes /w/out.txt",
		`echo x | tee a b`:                            "writes /w/a; writes /w/b",
		`sed -i 's/a/b/' a.go`:                        "writes /w/a.go",
		`sed -i.bak -e s/a/b/ a.go && cat a.go`:       "reads /w/a.go; writes /w/a.go",
		`sed -i 's/a/b/' a.go; true`:                  "may write /w/a.go", // a failure is not seen
		"set -e\nsed -i 's/a/b/' a.go\ntrue":          "writes /w/a.go",
		`rm -f a.go`:                                  "deletes /w/a.go whole",
		`rm -rf dir`:                                  "",
		`mv a.go b.go`:                                "deletes /w/a.go; writes /w/b.go",
		`cp a.go b.go`:                                "writes /w/b.go",
		`git checkout -- a.go`:                        "writes /w/a.go",
		`git checkout main`:                           "",
		`test -f a && sed -i s/a/b/ a || true`:        "may write /w/a",
		`(cd x; sed -i s/a/b/ a)`:                     "",
		// Of a row, the last statement says whether the whole succeeded.
		`npm test && echo x > a.go; echo done`:         "may write /w/a.go",
		`npm test && echo x > a.go`:                    "writes /w/a.go",
		`npm test && echo x > a.go && echo done`:       "writes /w/a.go",
		`echo x > a.go && npm test`:                    "writes /w/a.go",
		"npm test && cat > a.go <<E\nx\nE\necho done":  "may write /w/a.go",
		`npm test && echo x | tee a.go; echo done`:     "may write /w/a.go",
		`npm test && echo x | tee a.go`:                "writes /w/a.go",
		`echo x | tee a.go | head -1`:                  "may write /w/a.go",
		`exit 0; echo x > a.go`:                        "may write /w/a.go",
		`exit 0 && echo x > a.go`:                      "may write /w/a.go",
		`test -f b || exit 0; echo x > a.go`:           "may write /w/a.go",
		`test -f b || exit 1; echo x > a.go`:           "writes /w/a.go",
		`cd sub || exit 1; echo x > a.go`:              "writes /w/sub/a.go",
		`cd sub; echo x > a.go`:                        "may write /w/sub/a.go",
		`cd sub; echo x > /w/a.go`:                     "writes /w/a.go",
		`npm test || echo x > a.go`:                    "may write /w/a.go",
		`! echo x > a.go`:                              "may write /w/a.go",
		`echo x > a.go &`:                              "may write /w/a.go",
		`echo x > a.go & echo y > b.go`:                "writes /w/b.go; may write /w/a.go",
		`if npm test; then echo x > a.go; fi`:          "may write /w/a.go",
		`if test -f b; then exit 0; fi; echo x > a.go`: "may write /w/a.go",
		`if test -f b; then exit 0; fi; echo x > /w/a`: "may write /w/a",
		`for i in 1 2; do echo x > a.go; done`:         "may write /w/a.go",
		`while false; do echo x > a.go; done`:          "may write /w/a.go",
		`case $X in a) echo x > a.go;; esac`:           "may write /w/a.go",
		`(echo x > a.go)`:                              "may write /w/a.go",
		`{ echo x; } > a.go`:                           "may write /w/a.go",
		`f() { echo x > a.go; }`:                       "may write /w/a.go",
		`f() { exit 0; }; f; echo x > /w/a.go`:         "may write /w/a.go",
		`[[ -f b ]] && echo x > a.go`:                  "writes /w/a.go",
		`eval "$X"; echo x > /w/a.go`:                  "may write /w/a.go",
		`trap 'exit 0' EXIT; echo x > a.go && false`:   "may write /w/a.go",
		`set -e; npm test && echo x > a.go; echo done`: "may write /w/a.go",
		`set -e; npm test; echo x > a.go; echo done`:   "writes /w/a.go",
		`set -e; set +e; echo x > a.go; echo done`:     "may write /w/a.go",
		// These may ask, skip a file, or only say what they are.
		`cp -n a b; true && cp --no-clobber c d`: "may write /w/b /w/d",
		`cp --update=none a b`:                   "may write /w/b",
		`cp -fu a b`:                             "may write /w/b",
		`cp --no-clob a b`:                       "may write /w/b",
		`cp -t dir a`:                            "may write /w/a",
		`mv -n a b`:                              "may write /w/a /w/b",
		`yes n | rm -i a`:                        "may write /w/a",
		`rm -I a`:                                "may write /w/a",
		`cp --help a b && mv --version a b && rm --help a && tee --help a && sed -i --version a`: "",
		`cp -fpv --preserve=mode a b`: "writes /w/b",
		`rm -- -i`:                    "deletes /w/-i whole",
		`rm a.go; echo done`:          "may write /w/a.go",
		`FOO=1 make > out.txt`:        "writes /w/out.txt",
		`> a.go`:                      "writes /w/a.go",
		`echo "a > b.go"`:             "",
		// What is written cannot be told, so that earlier reads stay.
		`echo x > "$F"`:                              "",
		`rm src/*.go`:                                "",
		`sed -i s/a/b/ $(git ls-files)`:              "",
		`cp a.go "$D/b"`:                             "",
		`for f in *.go; do gofmt -w $f > $f.x; done`: "",
		`. env.sh; echo x > a.go`:                    "",
		`$MOVE && echo x > a.go`:                     "",
		`$MOVE && echo x > /w/a.go`:                  "may write /w/a.go",
		`cd "$D" && echo x > a.go`:                   "",
		`sleep 1 & rm a`:                             "deletes /w/a whole",
	} {
		if got := brief(Effects(command, "/w")); got != want {
			t.Errorf("%s\n got %q\nwant %q", command, got, want)
		}
	}
	if got := brief(Effects("cat a", "")); got != "reads a" {
		t.Errorf("without a directory: %q", got)
	}
}

// One file, in the spellings of Windows' shells, from wherever a command names it.
func TestAFileOfWindowsIsNamedByACommand(t *testing.T) {
	for command, want := range map[string]string{
		`cat C:\src\Main.go`:                                "reads",
		`cat "C:\src\Main.go"`:                              "reads",
		`cat 'C:\src\Main.go'`:                              "reads",
		`cat C:/src/main.go`:                                "reads",
		`cat main.go`:                                       "reads",
		`cd /c/src && cat main.go`:                          "reads",
		`cd "C:\src" && cat main.go`:                        "reads",
		`cd D:/ && cat "..\a\..\b"`:                         "",
		`type C:\src\main.go`:                               "reads",
		`type main.go`:                                      "", // bash says what command that is
		`Get-Content C:\src\main.go`:                        "reads",
		`get-content -Path 'main.go' -Raw -Encoding UTF8`:   "reads",
		`Get-Content "C:\src\main.go" -TotalCount 50`:       "reads partly",
		`Get-Content main.go, b.go`:                         "",
		`Get-Content main.go -Wait`:                         "",
		`rg -n x /mnt/c/src/main.go`:                        "reads partly",
		`grep -n "a\.b" /c/src/main.go`:                     "reads partly",
		`sed -n '1,20p' /cygdrive/c/src/main.go | head -n5`: "reads partly",
		`cat > /c/src/main.go <<'EOF'` + "\nx\nEOF":         "writes",
		`echo x > 'c:/src/main.go'`:                         "writes",
		`echo x > C:\src\main.go`:                           "may write", // bash writes another one, C:srcmain.go
		`rm "C:\src\main.go"`:                               "may write",
	} {
		var got []string
		add := func(what string, paths ...string) {
			for _, p := range paths {
				if tools.Key(`C:\src`, p) == "c:/src/main.go" {
					got = append(got, what)
				}
			}
		}
		of := Effects(command, `C:\src`)
		add("reads", of.Reads...)
		if of.Partial {
			got = append(got, "partly")
		}
		for _, w := range of.Writes {
			add("writes", w.Path)
		}
		add("may write", of.MayWrite...)
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: %q, want %q: %v", command, got, want, of)
		}
	}
}

func TestAStrategyLearnsWhatACommandReadsAndWrites(t *testing.T) {
	taxonomy, err := tools.ForPresets(tools.PresetNames(), nil)
	if err != nil {
		t.Fatal(err)
	}
	call := func(command string) content.ToolCall {
		return content.ToolCall{ID: "1", Name: "exec_command",
			Parameters: fmt.Appendf(nil, `{"cmd":%q,"workdir":"/w/sub"}`, command)}
	}
	entry := content.Content{Speaker: content.AI, Blocks: []content.Block{
		call("cat a"), call("sed -i s/a/b/ /x"), call("go test"), call("echo x > b; make"), content.Text{Text: "cat a"},
		content.ToolCall{ID: "2", Name: "unknown", Parameters: []byte(`{"cmd":"cat a"}`)},
	}}
	got := Annotated(entry, taxonomy, Place{})
	var uses []string
	for i, b := range got.Blocks {
		if c, ok := b.(content.ToolCall); ok {
			u := taxonomy.UseCall(c)
			uses = append(uses, brief(tools.Files{Reads: u.Reads, Partial: u.Partial, Writes: u.Writes,
				MayWrite: u.MayWrite}))
		}
		if c, ok := entry.Blocks[i].(content.ToolCall); ok && c.Extra.Has(tools.FilesField) {
			t.Errorf("block %d of the history was changed", i)
		}
	}
	if got, want := strings.Join(uses, "|"), "reads /w/sub/a|writes /x||may write /w/sub/b|"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// A field of that name in a call whose tool runs no command means nothing.
	other := content.ToolCall{Name: "read_file", Parameters: []byte(`{"path":"b"}`),
		Extra: content.FieldsOf(content.Field{Name: tools.FilesField, Value: []byte(`{"reads":["a"]}`)})}
	if u := taxonomy.UseCall(other); len(u.Reads) != 1 || u.Reads[0] != "b" {
		t.Errorf("got %v", u.Reads)
	}
}
