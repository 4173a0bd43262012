package watch

import "time"

// List is what a host's sessions did. Its JSON form is stable, and that of what it holds: 'thresh top -o json' prints
// it, and fields are only ever added.
type List struct {
	// Name says what runs: the agent of 'thresh wrap', or "serve".
	Name string `json:"name"`
	// Began is when the host started: the sums of its sessions count from then.
	Began    time.Time `json:"began"`
	Sessions []Session `json:"sessions"`
	// Month is what came of the last 30 days, today included, of all hosts of the store. It may be ten seconds behind.
	Month Total `json:"month"`
	// Plan is what was used of the windows of users' plans with providers, if these tell.
	Plan []Plan `json:"plan,omitempty"`
	// Error is why the sessions of the store are not among them; "" if they are, or there is none.
	Error string `json:"error,omitempty"`
}

// Plan is what was used of the windows of one length of a user's plan.
type Plan struct {
	Owner string `json:"owner,omitempty"`
	// API is that of the provider.
	API string `json:"api"`
	// Hours is the length of the windows.
	Hours float64 `json:"hours"`
	// Used is the share that is used of the window now, by all that use the plan, and Resets when it is 0 again; zero
	// if that is not known.
	Used   float64   `json:"used"`
	Resets time.Time `json:"resets,omitzero"`
	// Session is what was used since the host began, and Otherwise what it would have been without thresh; in a dry
	// run, with it.
	Session   float64 `json:"session"`
	Otherwise float64 `json:"otherwise"`
}

// monthDays are the days of [List.Month].
const monthDays = 30

// Total is what requests came to.
type Total struct {
	Requests int64 `json:"requests"`
	// Whole and Sent are tokens, as in [Session].
	Whole int64 `json:"whole"`
	Sent  int64 `json:"sent"`
	// Saved and Spent are US dollars: what turns took off the bill, and what model calls of compressions cost.
	Saved float64 `json:"savedUSD"`
	Spent float64 `json:"spentUSD"`
}

// Plus returns the sum of both.
func (t Total) Plus(u Total) Total {
	return Total{Requests: t.Requests + u.Requests, Whole: t.Whole + u.Whole, Sent: t.Sent + u.Sent,
		Saved: t.Saved + u.Saved, Spent: t.Spent + u.Spent}
}

// Session is a session with the sums of the turns that it had since the host began. Tokens are of the host's count, but
// for Usage.
type Session struct {
	ID string `json:"id"`
	// Owner is the name of the access token that the session belongs to, "" for the local user.
	Owner string `json:"owner,omitempty"`
	About
	// Strategy is that of the last turn, and Used when it was. Turns is how many there were.
	Strategy string    `json:"strategy"`
	Used     time.Time `json:"used"`
	Turns    int       `json:"turns"`
	// Whole is what the requests would have been if nothing had ever been removed, Sent what they were.
	Whole int `json:"whole"`
	Sent  int `json:"sent"`
	// Rewrites changed the beginning of the request before; Reason is why the last change was made.
	Rewrites int    `json:"rewrites"`
	Reason   string `json:"reason,omitempty"`
	// Saved is in US dollars, net of the prompt cache; 0 without a price list.
	Saved float64 `json:"savedUSD"`
	// Usage is what the provider reported.
	Usage Usage  `json:"usage"`
	Error string `json:"error,omitempty"`
	// Stored is set for a session that had no turn since the host began: what its store says of it. The sums are 0.
	Stored *Stored `json:"stored,omitempty"`
}

// Stored is what a store says of a session. It keeps neither turns nor money.
type Stored struct {
	// Entries and Tokens are those of the history as it is now.
	Entries int `json:"entries"`
	Tokens  int `json:"tokens"`
	// Added and AddedTokens are those of everything that was ever added. Only a [Detail] has them.
	Added       int `json:"added,omitempty"`
	AddedTokens int `json:"addedTokens,omitempty"`
}

// About is what a door knows of a session besides its turns.
type About struct {
	// Parent is the session that it was forked from, "" if none is known.
	Parent string `json:"parent,omitempty"`
	// Model is what the agent asks for.
	Model string `json:"model,omitempty"`
}

// Usage is what a provider reported of prompts, in its tokens.
type Usage struct {
	// Prompt includes Cached.
	Prompt int `json:"prompt"`
	Cached int `json:"cached"`
}

type Turn struct {
	// Turn counts from 1.
	Turn int       `json:"turn"`
	At   time.Time `json:"at"`
	// Whole and Sent are as in [Session], of this turn alone. Saved is negative for a turn that cost more than it
	// saved.
	Whole   int     `json:"whole"`
	Sent    int     `json:"sent"`
	Saved   float64 `json:"savedUSD"`
	Rewrote bool    `json:"rewrote,omitempty"`
	// Reason is why the history was changed; "" if it was not.
	Reason string `json:"reason,omitempty"`
	// Error is why the turn failed, or why it went on without its strategy.
	Error string `json:"error,omitempty"`
}

type Change struct {
	Turn  int    `json:"turn"`
	Entry string `json:"entry"`
	// Kind is removed, trimmed or added.
	Kind    string `json:"kind"`
	Speaker string `json:"speaker"`
	// Step, Rule and By are the step, the strategy's reason and the entry that supersedes this one.
	Step string `json:"step,omitempty"`
	Rule string `json:"rule,omitempty"`
	By   string `json:"by,omitempty"`
	// Why says it in words.
	Why string `json:"why,omitempty"`
	// Before and After are the entry's tokens; After is 0 for one that was removed. Calls are the ids of its tool
	// calls.
	Before int      `json:"before"`
	After  int      `json:"after"`
	Calls  []string `json:"calls,omitempty"`
}

// Kept is an entry that stays as it is, since a turn, by a rule: a pattern of compression.keep, or <keep>.
type Kept struct {
	Turn    int    `json:"turn"`
	Entry   string `json:"entry"`
	Speaker string `json:"speaker"`
	Rule    string `json:"rule"`
	Tokens  int    `json:"tokens"`
}

// Detail is one session with its last turns and changes, and the entries that are kept since the host began.
type Detail struct {
	Session
	History []Turn   `json:"history"`
	Changes []Change `json:"changes"`
	Kept    []Kept   `json:"kept"`
}
