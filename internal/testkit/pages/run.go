package pages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Shell is where the commands of a page are run.
type Shell struct {
	// Dir is the working directory at the beginning.
	Dir string
	// Env is the whole environment.
	Env []string
	// Hide replaces texts in what is printed, such as the path of a temporary directory, before it is compared. The
	// pairs are applied in order.
	Hide [][2]string
	// Change, if it is not nil, changes a command before it is run.
	Change func(command string) string
}

// mark begins the line that separates the outputs of two steps. No command prints it.
const mark = "\x1e"

// Result is what became of a page.
type Result struct {
	// Problems are the commands that failed or printed something else than the page shows, each with the page and the
	// line. After [Result.Update], those that failed.
	Problems []string
	// Output is everything that was printed, for the message of a failed test.
	Output string

	page    *Page
	steps   []step
	outputs [][]string
	differs []bool
	// different counts the problems, at the beginning of Problems, that are an output that differs.
	different int
}

// Run runs the commands of the page. The error is one of starting the shell.
func (p *Page) Run(ctx context.Context, sh Shell) (*Result, error) {
	r := &Result{page: p, steps: p.steps()}
	var script strings.Builder
	for i, s := range r.steps {
		command := s.command
		if sh.Change != nil {
			command = sh.Change(command)
		}
		flag := "+e"
		if s.strict {
			flag = "-e"
		}
		fmt.Fprintf(&script, "printf '\\n%%b%d\\n' '\\036'\nset %s\n{\n%s} 2>&1\n", i, flag, command)
	}
	cmd := exec.CommandContext(ctx, "bash", "-c", script.String()) // not on standard input: commands could read it
	cmd.Dir, cmd.Env, cmd.WaitDelay = sh.Dir, sh.Env, time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	r.Output = out.String()
	for _, pair := range sh.Hide {
		r.Output = strings.ReplaceAll(r.Output, pair[0], pair[1])
	}
	r.split()
	r.judge(err)
	return r, nil
}

// split takes the output apart by step. A step that was not reached has none.
func (r *Result) split() {
	r.outputs = make([][]string, len(r.steps))
	for part := range strings.SplitSeq(r.Output, "\n"+mark) {
		number, text, _ := strings.Cut(part, "\n")
		if i, err := strconv.Atoi(number); err == nil && i < len(r.steps) {
			r.outputs[i] = []string{}
			if text = strings.TrimRight(text, "\n"); text != "" {
				r.outputs[i] = strings.Split(text, "\n")
			}
		}
	}
}

func (r *Result) judge(err error) {
	r.differs = make([]bool, len(r.steps))
	last := 0
	for i, s := range r.steps {
		if r.outputs[i] == nil {
			break
		}
		last = i
		if want := r.page.Lines[s.from:s.to]; !s.strict && !equal(want, r.outputs[i]) {
			r.differs[i] = true
			r.Problems = append(r.Problems, fmt.Sprintf("%s:%d: %sprinted\n%s\n--- the page shows\n%s",
				r.page.Path, s.line+1, s.command, strings.Join(r.outputs[i], "\n"), strings.Join(want, "\n")))
		}
	}
	r.different = len(r.Problems)
	if stopped := last+1 < len(r.steps); stopped || err != nil && len(r.steps) > 0 && r.steps[last].strict {
		r.Problems = append(r.Problems, fmt.Sprintf("%s:%d: %v:\n%s", r.page.Path, r.steps[last].line+1, err,
			strings.Join(r.outputs[last], "\n")))
	}
}

// Update writes what was printed into the page, where it differs from what the page shows.
func (r *Result) Update() error {
	lines := slices.Clone(r.page.Lines)
	for i, s := range slices.Backward(r.steps) {
		if r.differs[i] {
			var shown []string
			for _, line := range r.outputs[i] {
				shown = append(shown, strings.TrimRight(line, " "))
			}
			lines = slices.Replace(lines, s.from, s.to, shown...)
		}
	}
	if err := os.WriteFile(r.page.Path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		return err
	}
	r.Problems, r.different = r.Problems[r.different:], 0
	return nil
}
