package pricing

import "testing"

// Evidence counts before tables, and what is not known is no reason to call anything too large.
func TestTheWindowThatIsKnown(t *testing.T) {
	for name, c := range map[string]struct {
		model string
		seen  Seen
		want  int
		by    KnownBy
	}{
		"nothing":                             {"", Seen{}, CommonWindow, ""},
		"no row, and little was answered":     {"llama-3", Seen{Answered: 90_000}, CommonWindow, ""},
		"no row, and more was answered":       {"llama-3", Seen{Answered: 250_000}, 272_000, ""},
		"no row, and more than any window":    {"llama-3", Seen{Answered: 3_000_000}, 3_000_000, ""},
		"a row":                               {"claude-opus-5", Seen{Answered: 559_279}, 1_000_000, ByModel},
		"more than the row":                   {"claude-sonnet-4-5", Seen{Answered: 300_000}, 922_000, ByAnswer},
		"what the agent said":                 {"gpt-5.5", Seen{Answered: 203_786, Told: 258_400}, 258_400, ByAgent},
		"more than the agent said":            {"gpt-5.5", Seen{Answered: 260_000, Told: 258_400}, 272_000, ByAnswer},
		"a refusal below the row":             {"claude-opus-5", Seen{Answered: 190_000, Refused: 200_000}, 200_000, ByRefusal},
		"a refusal above the row":             {"claude-sonnet-4-5", Seen{Refused: 1_000_000}, 1_000_000, ByRefusal},
		"a refusal without a row":             {"llama-3", Seen{Refused: 32_000}, 32_000, ByRefusal},
		"a refusal of less than was answered": {"claude-opus-5", Seen{Answered: 559_279, Refused: 200_000}, 1_000_000, ByModel},
	} {
		if got, by := c.seen.Window(c.model); got != c.want || by != c.by {
			t.Errorf("%s: %d by %q, want %d by %q", name, got, by, c.want, c.by)
		}
	}
}
