package main

import (
	"fmt"
	"strings"
)

type agentReport struct {
	// Agent is the name of its command, and Path where PATH finds it.
	Agent string `json:"agent"`
	Path  string `json:"path"`
	// Set says of each variable that 'thresh wrap' sets whether it is set already. Values are left out: a base URL may
	// hold a token.
	Set map[string]bool `json:"set,omitempty"`
	// Lost is what a base URL switches off in the agent, and what brings it back; "" if nothing is known.
	Lost string `json:"lost,omitempty"`
}

// agentReports looks for known agents in PATH, in the order of the table of 'thresh wrap'. It starts none.
func (a *app) agentReports() (all []agentReport) {
	for _, w := range agents {
		path, err := a.lookPath(w.command)
		if err != nil {
			continue
		}
		r := agentReport{Agent: w.command, Path: path, Lost: w.lost}
		for _, name := range w.names() {
			if r.Set == nil {
				r.Set = map[string]bool{}
			}
			_, r.Set[name] = a.lookupEnv(name)
		}
		all = append(all, r)
	}
	return all
}

func (w wrapping) names() (names []string) {
	for _, v := range w.variables {
		names = append(names, v.name)
	}
	for _, v := range w.others {
		name, _, _ := strings.Cut(v, "=")
		names = append(names, name)
	}
	return names
}

// printAgents prints a line for each agent, and what it loses. "set" is no fault: 'thresh wrap' uses a variable's
// address as the upstream.
func (a *app) printAgents(agents []agentReport) {
	for i, r := range agents {
		if i == 0 {
			fmt.Fprintln(a.out)
		}
		var set []string
		for _, name := range wrappingOf(r.Agent).names() {
			state := "not set"
			if r.Set[name] {
				state = "set"
			}
			set = append(set, name+" is "+state)
		}
		fmt.Fprintf(a.out, "%-18s %s\n", r.Agent, dash(strings.Join(set, ", ")))
		if r.Lost != "" {
			fmt.Fprintf(a.out, "%-18s with a base URL: %s\n", "", r.Lost)
		}
	}
}
