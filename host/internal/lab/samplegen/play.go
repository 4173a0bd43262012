package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// message is one message of a session: of the developer, of the agent with its calls, or of the agent's program.
type message struct {
	// compact and info are events of the agent's program. Only some formats have a place for them.
	role string // user, ai, compact or info
	at   time.Time
	text string
	// thought is the model's reasoning before it spoke; "" if there was none.
	thought string
	// calls are asked in parallel, and answered in this order.
	calls []call
}

// call is a tool call and its response.
type call struct {
	// step is where the call comes from: the body and the mark are needed again when its answer is worded.
	step step
	id   string
	name string // as the agent calls the tool
	// args keep the order of the story's dialect, since recorders keep it too.
	args object
	// result is the zero value for a call that was refused.
	result result
	at     time.Time // of the answer
}

// cancelled reports whether the developer refused the call, so that no tool ran.
func (c call) cancelled() bool { return c.step.mark == '?' }

// dialect is how one agent names its tools, words their responses, and stores its sessions. A new agent is a new
// implementation and a line in [samples]. It must not use the clock or a random source: everything that varies comes
// from ids and from the times of messages.
type dialect interface {
	// newCall names the tool and its arguments for a step.
	newCall(ws *workspace, s step, ids *ids) call
	// write returns the session file. It fails for a message that the format has no place for, instead of leaving it
	// out: the story is then for another dialect.
	write(s session) ([]byte, error)
}

// session is all that a session file holds.
type session struct {
	// project is the story's name, and root the path of the project as the session shows it.
	project string
	root    string
	// ids is shared with the calls, so that the ids of lines continue their sequence.
	ids      *ids
	messages []message
}

// player plays a story and collects what was said and done.
type player struct {
	ws       *workspace
	dialect  dialect
	ids      ids
	clock    clock
	messages []message
}

// play executes the steps in order. An error names the line of the story. A story is played once, from the beginning:
// steps depend on the files that earlier ones left.
func (p *player) play(ctx context.Context, steps []step) error {
	for _, s := range steps {
		if err := p.step(ctx, s); err != nil {
			return fmt.Errorf("line %d: @%s: %w", s.line, s.verb, err)
		}
	}
	return nil
}

// step executes one step. Times between messages are those of people and models: a developer thinks for a minute, a
// model for some seconds.
func (p *player) step(ctx context.Context, s step) error {
	// Every directive that is a tool call; the parser has refused unknown ones.
	if verbs[s.verb] {
		return p.call(ctx, s)
	}
	switch s.verb {
	// A thought precedes the text of its message in the story, but the message exists by then: @ai comes first.
	case "think":
		last, err := p.last()
		if err != nil {
			return err
		}
		last.thought = s.body
	case "user":
		// Only what a person says includes files. The file is read as it is at this point of the story.
		text, err := p.include(s.body)
		if err != nil {
			return err
		}
		p.messages = append(p.messages, message{role: s.verb, at: p.clock.tick(50 * time.Second), text: text})
	default:
		p.messages = append(p.messages, message{role: s.verb, at: p.clock.tick(4 * time.Second), text: s.body})
	}
	return nil
}

// call runs a tool and adds the call to the agent's current message. A tool that succeeds where the story expects a
// failure, or the reverse, is an error: story and project no longer fit each other.
func (p *player) call(ctx context.Context, s step) error {
	last, err := p.last()
	if err != nil {
		return err
	}
	c := p.dialect.newCall(p.ws, s, &p.ids)
	// The answer's time is drawn even for a call that is refused, so that adding a mark to a story does not shift all
	// later times.
	c.step, c.at = s, p.clock.tick(400*time.Millisecond)
	if s.mark != '?' {
		if c.result, err = p.ws.do(ctx, s); err != nil {
			return err
		}
		// A command that was killed by Ctrl-C looks like one that failed. Without this a story could record that.
		if err := ctx.Err(); err != nil {
			return err
		}
		if c.result.failed() != (s.mark == '!') {
			return fmt.Errorf("the story expected another outcome of %q:\n%s%s", s.arg, c.result.failure, c.result.text)
		}
	}
	last.calls = append(last.calls, c)
	return nil
}

// last returns the agent's message that is being built. The pointer is valid until the next message is appended.
func (p *player) last() (*message, error) {
	if n := len(p.messages); n > 0 && p.messages[n-1].role == "ai" {
		return &p.messages[n-1], nil
	}
	return nil, fmt.Errorf("only a message of the agent has this")
}

// include puts files in the place of lines "@@path", between the lines that mark an inclusion. The lines are
// one of the two forms in which agents include a file that was named with "@".
func (p *player) include(text string) (string, error) {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		name, ok := strings.CutPrefix(line, "@@")
		if !ok {
			continue
		}
		content, err := p.ws.load(name)
		if err != nil {
			return "", err
		}
		lines[i] = fmt.Sprintf("--- %s ---\n%s\n--- End of content ---", name, strings.TrimSuffix(content, "\n"))
	}
	return strings.Join(lines, "\n"), nil
}
