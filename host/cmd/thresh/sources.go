package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/internal/lab/recordings"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
)

const sourcesHelp = `

FILE is a session in any format that 'thresh sessions convert' reads, a directory or an agent's
database with sessions, a session in a database as 'DATABASE#ID', or '-' for standard input. Without
FILE, thresh looks where agents keep their sessions on this machine and takes the newest.
Nothing leaves the machine.`

// sources are the flags of a command that finds sessions itself. lastGiven says that the user chose last: a directory
// is read whole otherwise.
type sources struct {
	last      int
	lastGiven bool
	// project is a directory, agent a name of [recordings.Agents]; "" does not choose by it.
	project, agent string
}

func (a *app) addFrom(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.from, "from", "",
		"read FILE as `FORMAT` (default: detected from its content)")
	var names []string
	for _, f := range transcript.Formats() {
		names = append(names, string(f.Format))
	}
	complete(cmd, "from", names...)
}

// addSources gives a command --from and the flags that choose among the sessions of agents. last is how many it takes
// without --last. A command that takes one has no --last, and takes no more than one FILE.
func (a *app) addSources(cmd *cobra.Command, last int) *sources {
	s := sources{last: last}
	a.addFrom(cmd)
	f := cmd.Flags()
	if last > 1 {
		f.IntVar(&s.last, "last", last, "take the newest `N` sessions; 0 takes all")
	}
	f.StringVar(&s.project, "project", "", "without FILE: only sessions in which the agent worked in `DIR`")
	f.StringVar(&s.agent, "agent", "", "without FILE: only sessions of the agent `NAME`")
	complete(cmd, "agent", recordings.Agents()...)
	_ = cmd.MarkFlagDirname("project")
	cmd.Long += sourcesHelp
	cmd.Args = func(cmd *cobra.Command, given []string) error {
		s.lastGiven = cmd.Flags().Changed("last")
		switch {
		case last == 1 && len(given) > 1:
			return oneFile(cmd, given)
		case len(given) > 0 && (s.project != "" || s.agent != ""):
			return usage(cmd, errors.New(
				"--project and --agent choose among the sessions that agents keep; they do not go with FILE"))
		case s.last < 0:
			return usage(cmd, fmt.Errorf("--last: %d is not a number of sessions", s.last))
		}
		return nil
	}
	return &s
}

// files returns the requested sessions: the given files, those in given directories, or what agents keep on this
// machine. Files that it found itself are read here, to leave out those that hold no session; [app.read] then returns
// them. The order is given's; of a directory and of agents' sessions, the newest first.
func (a *app) files(cmd *cobra.Command, s *sources, given []string) ([]string, error) {
	if err := a.checkFrom(cmd); err != nil {
		return nil, err
	}
	if len(given) == 0 {
		return a.own(cmd, s)
	}
	var out []string
	for _, name := range given {
		found, many, err := recordings.Walk(a.path(name))
		if err != nil {
			return nil, err
		}
		if !many {
			out = append(out, name) // what is wrong with it, reading says
			continue
		}
		limit := 0
		if s.lastGiven || s.last == 1 { // a command for one session takes one
			limit = s.last
		}
		taken, err := a.take(cmd.Context(), found, limit)
		if err != nil {
			return nil, err
		}
		a.sayPassed(displayPath(name))
		if len(taken) == 0 {
			return nil, fmt.Errorf("%s: no session in it that can be read", displayPath(name))
		}
		out = append(out, taken...)
	}
	return out, nil
}

func (a *app) checkFrom(cmd *cobra.Command) error {
	if a.from == "" {
		return nil
	}
	format, err := transcript.ParseFormat(a.from)
	if err != nil {
		return usage(cmd, fmt.Errorf("--from: %w", err))
	}
	a.from = string(format)
	return nil
}

// own returns the newest sessions that agents keep on this machine, where each agent keeps them by default or by its
// own variables, and says on standard error which they are. That there is none is an error: a command about nothing
// must not look like success.
func (a *app) own(cmd *cobra.Command, s *sources) ([]string, error) {
	if a.home() == "" {
		return nil, errors.New("look for sessions: HOME is not set; name a FILE")
	}
	o := recordings.Options{Agent: s.agent}
	if s.project != "" {
		var err error
		if o.Project, err = filepath.Abs(a.path(s.project)); err != nil {
			return nil, fmt.Errorf("--project: %w", err)
		}
	}
	system := recordings.System{OS: runtime.GOOS, Home: a.home(), Getenv: a.getenv}
	found, err := recordings.Find(system, o)
	if err != nil {
		return nil, usage(cmd, fmt.Errorf("--agent: %w", err))
	}
	taken, err := a.take(cmd.Context(), found, s.last)
	if err != nil {
		return nil, err
	}
	if o.Project == "" && s.last != 1 { // what a file is about, its name does not tell
		a.passed.beside = recordings.Beside(system, o)
	}
	a.sayPassed("thresh")
	if len(taken) == 0 {
		return nil, fmt.Errorf("found no sessions of %s%s%s; name a FILE or a directory",
			cmp.Or(s.agent, strings.Join(recordings.Agents(), ", ")), inProject(o.Project), noReader(system))
	}
	// People must see what a result is about, since they named nothing.
	if len(taken) == 1 {
		fmt.Fprintf(a.err, "thresh: the newest of %s%s: %s\n", byAgent(found), inProject(o.Project),
			displayPath(taken[0]))
	} else {
		fmt.Fprintf(a.err, "thresh: the newest %d of %s%s; --last N takes more or fewer\n", len(taken), byAgent(found),
			inProject(o.Project))
	}
	return taken, nil
}

func inProject(dir string) string {
	if dir == "" {
		return ""
	}
	return " in " + displayPath(dir)
}

func byAgent(found []recordings.Found) string {
	counts := map[string]int{}
	for _, f := range found {
		counts[f.Agent]++
	}
	var parts []string
	for _, name := range recordings.Agents() {
		if n := counts[name]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", name, n))
		}
	}
	return fmt.Sprintf("%d sessions (%s)", len(found), strings.Join(parts, ", "))
}

// noReader names the agents of this machine whose sessions cannot be read.
func noReader(s recordings.System) string {
	if names := recordings.Unread(s); len(names) > 0 {
		return " (there are sessions of " + strings.Join(names, ", ") + ", for which there is no reader)"
	}
	return ""
}

// passed is what was found and not taken.
type passed struct {
	unknown []string // of no known format
	broken  int      // sessions that cannot be read: each has its own line
	idle    int      // sessions in which no model was asked
	beside  []string // by their names no sessions
}

// sayPassed says in one line what was found and not taken, and forgets it.
func (a *app) sayPassed(about string) {
	p := a.passed
	a.unread += p.broken
	a.passed = passed{}
	var parts []string
	add := func(n int, what string, paths []string) {
		if n > 0 {
			text := plural(n, "file") + " " + what
			if len(paths) > 0 {
				text += ", such as " + displayPath(paths[0])
			}
			parts = append(parts, text)
		}
	}
	add(p.broken, "that cannot be read", nil)
	add(len(p.unknown), "of no known format", p.unknown)
	add(p.idle, "without a request", nil)
	add(len(p.beside), "beside sessions", p.beside)
	if len(parts) > 0 {
		fmt.Fprintf(a.err, "%s: not read: %s\n", about, strings.Join(parts, "; "))
	}
}

// take reads the found files, the newest first, and returns the first limit of them in which a model was asked for
// something; 0 means all. The error is ctx's. A session without requests tells nothing about pruning and is passed over;
// [app.sayPassed] says what was.
func (a *app) take(ctx context.Context, found []recordings.Found, limit int) ([]string, error) {
	var out []string
	a.taken = map[string]*transcript.Transcript{}
	for _, f := range found {
		t, err := a.read(ctx, f.Path)
		switch {
		case ctx.Err() != nil:
			return nil, err
		case errors.Is(err, transcript.ErrEmpty): // just begun
			a.passed.idle++
			continue
		case errors.Is(err, transcript.ErrUnknownFormat):
			a.passed.unknown = append(a.passed.unknown, f.Path)
			continue
		case err != nil:
			if a.passed.broken++; a.passed.broken <= maxNotes {
				fmt.Fprintf(a.err, "thresh: %v\n", err)
			}
			continue
		case len(t.Requests()) == 0:
			a.passed.idle++
			continue
		}
		a.taken[f.Path] = t
		// A limit of 0 is never reached, because out has at least one element here.
		if out = append(out, f.Path); len(out) == limit {
			break
		}
	}
	return slices.Clip(out), nil
}
