// Command peers puts what thresh makes of recorded sessions beside ccusage and beside a plain sum of what their
// recorders wrote, a row a session.
//
// Usage: peers [-together] THRESH CCUSAGE FILE|DIRECTORY…
//
// With -together, all sessions of an argument are one row, such as a fork and its parent, whose requests count once.
// The plain sum reads the files without thresh, by the rules of plain.go, and prices them by the list that thresh
// names: no long prompts, no speed, no other day. ccusage sees each session in a home of its own, and asks no
// network.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
)

func main() {
	together := flag.Bool("together", false, "make all sessions of an argument one row")
	flag.Parse()
	if flag.NArg() < 3 {
		fmt.Fprintln(os.Stderr, "usage: peers [-together] THRESH CCUSAGE FILE|DIRECTORY…")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), flag.Arg(1), flag.Args()[2:], *together); err != nil {
		fmt.Fprintf(os.Stderr, "peers: %v\n", err)
		os.Exit(1)
	}
}

// counts are tokens of prompts, and what they and the answers cost, in USD.
type counts struct {
	prompt int
	usd    float64
	known  bool
	priced bool
}

func (c counts) String() string {
	switch {
	case !c.known:
		return "-\t-\t"
	case !c.priced:
		return fmt.Sprintf("%d\t-\t", c.prompt)
	}
	return fmt.Sprintf("%d\t%.4f\t", c.prompt, c.usd)
}

func run(thresh, ccusage string, paths []string, together bool) error {
	var rows [][]string
	for _, path := range paths {
		var files []string
		err := filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.Contains(filepath.Base(file), ".json") {
				files = append(files, file)
			}
			return err
		})
		if err != nil {
			return err
		}
		if together {
			rows = append(rows, files)
			continue
		}
		for _, file := range files {
			rows = append(rows, []string{file})
		}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "session\tformat\tTHRESH tokens\tUSD\tCCUSAGE tokens\tUSD\tPLAIN tokens\tUSD\t")
	for _, files := range rows {
		s, c, err := ask(thresh, files)
		if err != nil {
			fmt.Fprintf(os.Stderr, "peers: %v\n", err)
			continue
		}
		name := filepath.Base(files[0])
		if together {
			name = filepath.Base(filepath.Dir(files[0]))
		}
		fmt.Fprintf(w, "%s\t%s\t%s%s%s\n", name[max(len(name)-30, 0):], s.Format, c, peer(ccusage, s.Format, files),
			plain(s.Format, files, s.list))
	}
	return w.Flush()
}

// session is what "thresh compare -o json" says of one.
type session struct {
	Format  string `json:"format"`
	Prices  string `json:"prices"`
	Nothing struct {
		Sent  int `json:"sent"`
		Costs []struct {
			USD float64 `json:"nothingUsd"`
		} `json:"costs"`
	} `json:"nothing"`
	list prices
}

// prices are a price list in USD for a million tokens.
type prices struct {
	Input      float64 `json:"input"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
	Hour       float64 `json:"cacheWriteHour"`
	Output     float64 `json:"output"`
}

// ask returns what thresh says of sessions: the first one with the prices of its model, and the counts of all.
func ask(thresh string, files []string) (s session, all counts, err error) {
	if len(files) == 0 {
		return s, all, errors.New("no sessions")
	}
	out, err := output(nil, thresh, append([]string{"compare", "--strategy", "distill", "-o", "json"}, files...)...)
	var report struct {
		Sessions []session `json:"sessions"`
	}
	if err == nil {
		err = json.Unmarshal(out, &report)
	}
	if err != nil || len(report.Sessions) == 0 {
		return s, all, fmt.Errorf("%s: thresh: %w", files[0], cmp.Or(err, errors.New("no session")))
	}
	s, all.known = report.Sessions[0], true
	for _, s := range report.Sessions {
		all.prompt += s.Nothing.Sent
		if len(s.Nothing.Costs) > 0 && s.Prices != "" {
			all.usd, all.priced = all.usd+s.Nothing.Costs[0].USD, true
		}
	}
	if s.Prices != "" {
		var lists []prices
		if out, err = output(nil, thresh, "config", "prices", s.Prices, "-o", "json"); err == nil {
			err = json.Unmarshal(out, &lists)
		}
		if err == nil && len(lists) == 1 {
			s.list = lists[0]
		}
	}
	return s, all, err
}

// homes are where ccusage looks for a session of a format.
// N is the number of a session; what follows ".json" in a file's name is kept.
var homes = map[string]struct{ agent, path string }{
	"claude-code": {"claude", ".claude/projects/p/00000000-0000-4000-8000-00000000000N"},
	"codex":       {"codex", ".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-N"},
	"gemini-cli":  {"gemini", ".gemini/tmp/p/chats/session-N"},
	"qwen-code":   {"qwen", ".qwen/projects/p/chats/N"},
	"pi":          {"pi", ".pi/agent/sessions/p/N"},
	"amp":         {"amp", ".local/share/amp/threads/T-N"},
	"kimi":        {"kimi", ".kimi/sessions/p/N/wire"},
}

func peer(ccusage, format string, files []string) (c counts) {
	place, ok := homes[format]
	if !ok {
		return c
	}
	home, err := os.MkdirTemp("", "peers-")
	if err != nil {
		return c
	}
	defer os.RemoveAll(home) //nolint:errcheck // what is left lies among temporary files
	for i, file := range files {
		name := filepath.Base(file)
		path := strings.Replace(place.path, "N", strconv.Itoa(i+1), 1) + name[strings.Index(name, ".json"):]
		path = filepath.Join(home, filepath.FromSlash(path))
		raw, err := os.ReadFile(file)
		if err == nil {
			err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, raw, 0o600))
		}
		if err != nil {
			return c
		}
	}
	out, err := output([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, ccusage, place.agent, "session", "--json",
		"--offline")
	var report struct {
		Totals struct {
			Input int     `json:"inputTokens"`
			Read  int     `json:"cacheReadTokens"`
			Write int     `json:"cacheCreationTokens"`
			Cost  float64 `json:"costUSD"`
			Total float64 `json:"totalCost"`
		} `json:"totals"`
	}
	if err != nil || json.Unmarshal(out, &report) != nil {
		return c
	}
	t := report.Totals
	return counts{t.Input + t.Read + t.Write, cmp.Or(t.Cost, t.Total), true, true}
}

func output(env []string, program string, args ...string) ([]byte, error) {
	cmd := exec.Command(program, args...)
	cmd.Env = env
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return out, err
}
