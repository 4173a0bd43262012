package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/internal/llm"
	"github.com/thresh-dev/thresh/host/internal/table"
	"github.com/thresh-dev/thresh/internal/text"
)

// llmCheck is the result of a model call as 'llm check -o json' prints it; the names are stable. CostUSD is 0 for a
// profile without prices, ContextLimit and MaxOutput are in tokens. Answered is the model that the provider reports,
// which may be a dated version of the requested Model or, behind a gateway, another model. Kind is the protocol,
// "openai" or "anthropic"; FinishReason is the provider's. Time is in nanoseconds and includes retries.
type llmCheck struct {
	Profile      string        `json:"profile"`
	Kind         string        `json:"kind"`
	Model        string        `json:"model"`
	Answered     string        `json:"answeredAs"`
	Text         string        `json:"text"`
	FinishReason string        `json:"finishReason"`
	InputTokens  int           `json:"inputTokens"`
	OutputTokens int           `json:"outputTokens"`
	CostUSD      float64       `json:"costUSD"`
	Attempts     int           `json:"attempts"`
	Time         time.Duration `json:"timeNs"`
	ContextLimit int           `json:"contextLimit"`
	MaxOutput    int           `json:"maxOutput"`
}

func llmCommand(a *app) *cobra.Command {
	return group("llm", "Check the model that writes summaries, and show or edit its prompts", "",
		llmCheckCommand(a), promptsCommand(a))
}

func llmCheckCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check [PROFILE]",
		Short: "Make one tiny call and show the answer, time and cost",
		Long: `Calls the model of a profile with one sentence and shows which model answered, how long it took and
what it cost. Without PROFILE it uses the profile that compression uses: compression.profile or,
without it, the profile in force.`,
		Example: `  thresh llm check
  thresh llm check summaries -o json`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, names []string) error {
			if len(names) == 1 {
				a.sets = append(a.sets, "compression.profile="+names[0])
			}
			h, err := a.open(cmd)
			if err != nil {
				return err
			}
			defer h.Close()
			client, err := h.Model(h.Config())
			if err != nil {
				return err
			}
			// 64 output tokens leave room for models that think before they answer; some count their thinking as output
			// and would return an empty text with a lower limit.
			r, err := client.Generate(cmd.Context(), llm.Request{
				Messages:  []llm.Message{{Role: llm.User, Text: "Answer with the one word: ready"}},
				MaxOutput: 64,
			}, nil)
			if err != nil {
				return err
			}
			p := client.Profile()
			c := llmCheck{
				Profile: p.Name, Kind: p.Kind, Model: p.Model, Answered: r.Model, Text: r.Text,
				FinishReason: r.FinishReason,
				InputTokens:  r.InputTokens, OutputTokens: r.OutputTokens, CostUSD: r.CostUSD, Attempts: r.Attempts,
				Time: r.Duration, ContextLimit: p.ContextLimit, MaxOutput: client.MaxOutput(),
			}
			return a.show(c, func() error { return a.printCheck(c) })
		},
	}
	a.addOutput(cmd)
	return cmd
}

// printCheck prints the result for people. Any answer counts as working: the check is about the connection, the key and
// the model name, not about obedience.
func (a *app) printCheck(c llmCheck) error {
	fmt.Fprintf(a.out, "profile %s works\n", c.Profile)
	fmt.Fprintf(a.out, "  model      %s (%s), answered as %s\n", c.Model, c.Kind, dash(c.Answered))
	fmt.Fprintf(a.out, "  answer     %q, finish reason %s\n", text.OneLine(c.Text, 60), dash(c.FinishReason))
	fmt.Fprintf(a.out, "  tokens     %d in, %d out, %.6f USD\n", c.InputTokens, c.OutputTokens, c.CostUSD)
	fmt.Fprintf(a.out, "  time       %s, %d attempt(s)\n", table.Duration(c.Time), c.Attempts)
	_, err := fmt.Fprintf(a.out, "  window     %d tokens, at most %d out\n", c.ContextLimit, c.MaxOutput)
	return err
}
