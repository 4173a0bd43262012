package proxy

import "testing"

// What a provider counts of a prompt is all of it but the room for the answer.
func TestARefusalSaysHowLargeAPromptIs(t *testing.T) {
	for text, want := range map[string]int{
		"prompt is too long: 210000 tokens > 200000 maximum":                                              210_000,
		"you requested 9000 tokens (5000 in the messages, 3000 in the functions, 1000 in the completion)": 8000,
		"you requested 6000 tokens (5000 in the messages, 1000 in the completion)":                        5000,
		"input is too long": 0,
	} {
		if got := refusedTokens([]byte(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
