package main_test

import (
	"os"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// TestAModelThatCannotBeUsedIsOneClearError of each command that needs it.
func TestAModelThatCannotBeUsedIsOneClearError(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		p := newLLMPlaceHere(t, kind, modelapi.Options{Models: []string{"writer-1"}, ContextLimit: 100_000})
		p.file("s.jsonl", workday(60))
		p.edit("empty.key", " \n")
		p.env = append(p.env, "EMPTY_KEY=", "WRONG_KEY=sk-wrong-0a1b2c3d4e5f")
		other := modelapi.Start(t, modelapi.Options{})
		other.Close()
		wrongPath := p.server.URL + "/v9"
		const provider = "profiles.writer.provider."
		for name, c := range map[string]struct {
			sets []string
			want []string
		}{
			"no profile": {[]string{"compression.profile="}, []string{"no model", "compression.profile"}},
			"an unknown profile": {[]string{"compression.profile=nosuch"},
				[]string{"compression.profile", "nosuch", "writer"}},
			"a key that is not set": {[]string{provider + "keyEnv=NO_SUCH_KEY"},
				[]string{"profile writer", "NO_SUCH_KEY", "not set", provider + "keyEnv"}},
			"an empty key": {[]string{provider + "keyEnv=EMPTY_KEY"},
				[]string{"profile writer", "EMPTY_KEY", "empty"}},
			"a key file that is away": {[]string{"compression.profile=filed"},
				[]string{"profile filed", "writer.key", "keyFile", "no such file"}},
			"an empty key file": {[]string{"compression.profile=filed", "profiles.filed.provider.keyFile=empty.key"},
				[]string{"profile filed", "empty.key", "is empty"}},
			"a wrong key": {[]string{provider + "keyEnv=WRONG_KEY"}, []string{"401", "WRONG_KEY", "key"}},
			"a server that is away": {[]string{provider + "baseURL=" + other.URL},
				[]string{"refused", provider + "baseURL", other.URL}},
			"a wrong path": {[]string{provider + "baseURL=" + wrongPath},
				[]string{"404", provider + "baseURL", wrongPath}},
			"no URL": {[]string{provider + "baseURL=nowhere"}, []string{provider + "baseURL", "http"}},
			"a model it has not": {[]string{provider + "model=writer-9"},
				[]string{"404", "writer-9", provider + "model"}},
			"a kind that is not one": {[]string{provider + "kind=bard"},
				[]string{provider + "kind", "openai", "anthropic"}},
		} {
			t.Run(name, func(t *testing.T) {
				for _, command := range []string{"plugins try s.jsonl", "llm check"} {
					if kind != kinds[0] && command != "llm check" {
						continue // both commands make the same client
					}
					args := strings.Fields(command)
					for _, set := range c.sets {
						args = append(args, "--set", set)
					}
					r := p.run(args...)
					r.failed(t, 1, c.want...)
					if strings.Contains(r.stderr, "sk-wrong") {
						t.Errorf("%s: it prints the wrong key", command)
					}
				}
			})
		}
	})
}

// TestAWindowThatIsTooSmallForThePrompt is noticed before anything is asked.
func TestAWindowThatIsTooSmallForThePrompt(t *testing.T) {
	t.Parallel()
	p := newLLMPlaceHere(t, "anthropic", modelapi.Options{})
	p.file("s.jsonl", workday(60))
	for _, strategy := range llmNames {
		p.run("plugins", "try", "--strategy", strategy, "--set", "profiles.writer.provider.contextLimit=2000", "--set",
			"profiles.writer.provider.maxOutput=500",
			"s.jsonl").failed(t, 1, strategy, "profile writer", "window", "2000", "compression.profile", willNotHelp)
	}
	if n := len(p.server.Requests()); n > 0 {
		t.Errorf("the model was asked %d times", n)
	}
}

// TestAWindowThatIsSetTooLarge is what the server says, with what to do.
func TestAWindowThatIsSetTooLarge(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		p := newLLMPlaceHere(t, kind, modelapi.Options{ContextLimit: 5000})
		p.file("s.jsonl", conversation(100))
		p.run("plugins", "try", "s.jsonl").failed(t, 1, "profile writer", "5000", "profiles.writer.provider.contextLimit",
			willNotHelp)
	})
}

// TestAStrategyWithoutAModelNeedsNoProfile, be it as wrong as it may.
func TestAStrategyWithoutAModelNeedsNoProfile(t *testing.T) {
	t.Parallel()
	p := newLLMPlaceHere(t, "openai", modelapi.Options{})
	p.file("s.jsonl", workday(60))
	for _, strategy := range []string{"high-density", "top-down-truncation"} {
		p.run("plugins", "try", "--strategy", strategy, "--set", "profiles.writer.provider.keyEnv=NO_SUCH_KEY",
			"s.jsonl").done(t)
	}
}

func TestCheckSaysWhatItFound(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		p := newLLMPlaceHere(t, kind, modelapi.Options{Reply: modelapi.Always(
			modelapi.Reply{Text: "ready", Usage: modelapi.Usage{Input: 1000, Output: 200}})})
		got := decode[object](t, p.run("llm", "check", "-o", "json"))
		for name, want := range map[string]any{
			"profile": "writer", "kind": kind, "model": "writer-1", "text": "ready", "inputTokens": 1000.0,
			"outputTokens": 200.0, "costUSD": 0.006, "attempts": 1.0, "contextLimit": 200_000.0, "maxOutput": 4000.0,
		} {
			if got[name] != want {
				t.Errorf("%s = %v, want %v", name, got[name], want)
			}
		}
		if text := p.run("llm", "check", "writer").done(t).stdout; !strings.Contains(text, "profile writer works") ||
			!strings.Contains(text, "0.006000 USD") {
			t.Errorf("for people: %s", text)
		}
		p.server.Queue(modelapi.Fail(529), modelapi.Fail(529))
		p.run("llm", "check").failed(t, 1, "profile writer", "Overloaded", "tried 2 times")
		if text := p.run("config", "explain").done(t).stdout; strings.Contains(text, key) {
			t.Error("config explain shows the key")
		}
	})
}

// TestAKeyInAFile works like one in the environment, and is not shown either.
func TestAKeyInAFile(t *testing.T) {
	t.Parallel()
	p := newLLMPlace(t, "openai", modelapi.Options{})
	p.edit("writer.key", key+"\n")
	if err := os.Chmod(p.path("work", "writer.key"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.run("llm", "check", "filed", "--log-level", "trace").done(t)
}
