package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/llm"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/table"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/text"
)

// checkConfiguration finds what keeps 'thresh serve' from starting with a configuration. It calls no model, starts no
// plugin and changes nothing. The error has a line for each problem, with the file and line to mend.
func (a *app) checkConfiguration(cmd *cobra.Command, c *config.Config, insecure bool) error {
	attach, err := a.attach(cmd)
	if err != nil {
		return err
	}
	set := c.Settings()
	h, err := window.Open(window.Options{Config: c, Logger: hclog.NewNullLogger(), Attach: attach,
		Store: store.NewMemory()})
	problems := []error{err}
	if err == nil {
		problems = []error{h.Check(c), h.Close()}
	}
	_, err = tokens.For(set.Model.Name, set.Model.Encoding)
	problems = append(problems, window.At(c, "model.encoding", err), checkListen(c, insecure))
	// Only that it opens: to read a large one takes minutes.
	if path, file := strings.CutPrefix(set.Sessions.Store, "sqlite:"); !file || exists(path) {
		kept, err := openStore(cmd.Context(), c)
		if kept != nil {
			err = errors.Join(kept.Ready(cmd.Context()), kept.Close())
		}
		if err != nil {
			problems = append(problems, window.At(c, "sessions.store", fmt.Errorf("sessions.store: %w", err)))
		}
	}
	return errors.Join(problems...)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, os.ErrNotExist)
}

// pluginReport is a plugin, or a directory that cannot be searched.
type pluginReport struct {
	Name  string        `json:"name,omitempty"`
	Path  string        `json:"path,omitempty"`
	State plugins.State `json:"state"`
	Why   string        `json:"why,omitempty"`
}

// modelReport is the model that writes summaries. Kind is the protocol, "openai" or "anthropic"; ContextLimit and
// MaxOutput are in tokens. Call is what one call gave, nil without --call.
type modelReport struct {
	Profile      string     `json:"profile"`
	Kind         string     `json:"kind"`
	Model        string     `json:"model"`
	ContextLimit int        `json:"contextLimit"`
	MaxOutput    int        `json:"maxOutput"`
	Call         *modelCall `json:"call,omitempty"`
	Problem      string     `json:"problem,omitempty"`
}

// modelCall is a tiny call. Answered is the model that the provider reports, which may be a dated version of the
// requested one or, behind a gateway, another model. CostUSD is 0 for a profile without prices. Time is in nanoseconds
// and includes retries.
type modelCall struct {
	Answered     string        `json:"answeredAs"`
	Text         string        `json:"text"`
	FinishReason string        `json:"finishReason"`
	InputTokens  int           `json:"inputTokens"`
	OutputTokens int           `json:"outputTokens"`
	CostUSD      float64       `json:"costUSD"`
	Attempts     int           `json:"attempts"`
	Time         time.Duration `json:"timeNs"`
}

// checkHost starts the plugins and, with call, asks the model once.
func (a *app) checkHost(cmd *cobra.Command, c *config.Config, call bool) (all []pluginReport, m *modelReport, err error) {
	attach, err := a.attach(cmd)
	if err != nil {
		return nil, nil, err
	}
	h, err := a.openHost(c, attach, false)
	if err != nil {
		return nil, nil, nil // it is a problem of the configuration
	}
	defer h.Close()
	for _, l := range listed(h.Plugins(cmd.Context()), c) {
		all = append(all, pluginReport{l.Name, l.Path, l.State, plugins.Explanation(l)})
	}
	client, err := h.Model(c)
	switch {
	case errors.Is(err, prepare.ErrNoLLM) && !call:
		return all, nil, nil
	case err != nil:
		return all, &modelReport{Problem: err.Error()}, nil
	}
	p := client.Profile()
	m = &modelReport{Profile: p.Name, Kind: p.Kind, Model: p.Model, ContextLimit: p.ContextLimit,
		MaxOutput: client.MaxOutput()}
	if !call {
		return all, m, nil
	}
	// 64 output tokens leave room for models that think before they answer; some count their thinking as output and would
	// return an empty text with a lower limit.
	r, err := client.Generate(cmd.Context(), llm.Request{
		Messages:  []llm.Message{{Role: llm.User, Text: "Answer with the one word: ready"}},
		MaxOutput: 64,
	}, nil)
	if err != nil {
		m.Problem = err.Error()
		return all, m, nil
	}
	m.Call = &modelCall{Answered: r.Model, Text: r.Text, FinishReason: r.FinishReason, InputTokens: r.InputTokens,
		OutputTokens: r.OutputTokens, CostUSD: r.CostUSD, Attempts: r.Attempts, Time: r.Duration}
	return all, m, nil
}

// usable reports whether a strategy can be used, or is not there at all, which is a problem of the configuration.
func usable(name string, all []pluginReport) bool {
	found := false
	for _, p := range all {
		if p.Name == name && p.State == plugins.StateReady {
			return true
		}
		found = found || p.Name == name && p.State != plugins.StateShadowed
	}
	return !found
}

func (a *app) printConfiguration(problems []string) {
	if len(problems) == 0 {
		fmt.Fprintln(a.out, "configuration      nothing is wrong")
		return
	}
	fmt.Fprintln(a.out, "configuration      'thresh serve' would not start:")
	for _, line := range problems {
		fmt.Fprintf(a.out, "  %s\n", line)
	}
}

func (a *app) printPluginStates(all []pluginReport) {
	var ready []string
	for _, p := range all {
		if p.State == plugins.StateReady {
			ready = append(ready, p.Name)
		}
	}
	a.paragraph("plugins            "+dash(strings.Join(ready, ", ")), len("plugins            "))
	for _, p := range all {
		if p.State == plugins.StateReady {
			continue
		}
		why := ": " + p.Why
		if p.Why == "" {
			why = ""
		}
		fmt.Fprintf(a.out, "  %s is %s%s\n", text.Printable(p.Path, maxName), p.State, why)
	}
}

// printModel prints what is known of the model. Any answer counts as working: the check is about the connection, the
// key and the model's name, not about obedience.
func (a *app) printModel(m *modelReport) {
	switch {
	case m == nil:
		fmt.Fprintln(a.out, "model              none; strategies that need one cannot be used")
		return
	case m.Problem != "":
		fmt.Fprintf(a.out, "model              cannot be used: %s\n", m.Problem)
		return
	}
	asked := ", not asked: --call asks it"
	if m.Call != nil {
		asked = ", works"
	}
	fmt.Fprintf(a.out, "model              %s (%s) of profile %s%s\n", m.Model, m.Kind, m.Profile, asked)
	if c := m.Call; c != nil {
		fmt.Fprintf(a.out, "  answered as %s: %q, finish reason %s\n", dash(c.Answered), text.OneLine(c.Text, 60),
			dash(c.FinishReason))
		fmt.Fprintf(a.out, "  %d tokens in, %d out, %.6f USD, %s, %s\n", c.InputTokens, c.OutputTokens, c.CostUSD,
			table.Duration(c.Time), plural(c.Attempts, "attempt"))
	}
	fmt.Fprintf(a.out, "  window %d tokens, at most %d out\n", m.ContextLimit, m.MaxOutput)
}
