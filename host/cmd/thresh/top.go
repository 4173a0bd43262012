package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/watch"
	"github.com/thresh-dev/thresh/host/internal/table"
	"github.com/thresh-dev/thresh/internal/text"
)

// The command asks hosts over HTTP, as the page /ui does: a service, or a proxy of 'thresh wrap' that announced itself
// (announce.go).

const (
	topEvery   = time.Second     // how often the view is drawn
	topTimeout = 2 * time.Second // how long all hosts may take to answer
)

var topColumns = []table.Column{
	{Name: "session", Min: 12}, {Name: "owner", Min: 6, Rank: 1}, {Name: "strategy", Min: 8, Rank: 3}, {Name: "turns", Right: true, Rank: 2},
	{Name: "sent", Head: "TOKENS\nSENT", Right: true}, {Name: "saved", Head: "TOKENS\nSAVED", Right: true},
	{Name: "cached", Head: "FROM\nCACHE", Right: true, Rank: 2}, {Name: "rewrites", Right: true, Rank: 4},
	{Name: "usd", Head: "USD\nSAVED", Right: true},
	{Name: "why", Head: "LAST CHANGE", Min: 32, Rank: 1},
}

// topMeaning is what the columns mean, for the help of the command and of the view.
const topMeaning = `  TOKENS SENT   in all requests together
  TOKENS SAVED  how much less that is than without thresh
  FROM CACHE    how much of the prompts the provider read from its cache, as it reported; "-" if the
                agent calls the provider itself
  REWRITES      how often the beginning of a request changed, which the cache has to hold again
  USD SAVED     at the model's price list, net of the cache; "-" without a price list
  LAST CHANGE   why the history was last made smaller; after a long pause the provider's cache is
                empty, and a rewrite costs nothing extra`

func topCommand(a *app) *cobra.Command {
	var pages, line, total bool
	cmd := &cobra.Command{
		Use: "top", Short: "Watch the sessions of running hosts: tokens, cache hits, rewrites, money",
		Long: `Shows the sessions of 'thresh serve' (at serve.listen, with the token in serve.tokenFile) and of
each 'thresh wrap' that you run, of a service those of all owners. A session that had a turn since
its host started shows the sums of these turns. Sessions that are only in the store are "stored",
with the size of their history: the store keeps neither turns nor money.

` + topMeaning + `

On a terminal the view is drawn every second: q quits, ? shows what the columns mean. Otherwise, and
with -o json, it is printed once. --page prints the addresses of the pages that show the same in a
browser, turn by turn, with what was removed. --line prints one line for a status line, such as
Claude Code's: of the host that the environment names, else of the first.

--total adds up, month by month, what runs of 'thresh wrap' saved, which a file next to
serve.tokenFile keeps, and what the store of 'thresh serve' has of hosts that use it.

With a plan (Claude, Codex) the provider tells with each answer what is used of its windows. A line
says what was used of them since the host started, by all that use the plan; what it would have been
without thresh is in proportion to the cost.`,
		Example: `  thresh top
  thresh top --total
  thresh top --line    # "statusLine": {"type": "command", "command": "thresh top --line"}
  thresh top -o json | jq '.hosts[].sessions[].savedUSD'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.serveConfig(cmd)
			if err != nil {
				return err
			}
			// A program that wants more than one picture asks again.
			out, terminal := a.out.(*os.File)
			switch {
			case pages:
				return a.printPages(cmd.Context(), c)
			case line:
				return a.printLine(cmd.Context(), c)
			case total:
				return a.printTotal(cmd.Context(), c)
			}
			if !terminal || a.output == "json" || !term.IsTerminal(int(out.Fd())) {
				seen, err := watched(cmd.Context(), c)
				if err != nil {
					return err
				}
				return a.printTop(seen)
			}
			return a.liveTop(cmd.Context(), c, out)
		},
	}
	cmd.Flags().BoolVar(&pages, "page", false, "print the addresses of the pages, with their tokens")
	cmd.Flags().BoolVar(&line, "line", false, "print one line, for a status line")
	cmd.Flags().BoolVar(&total, "total", false, "print what all runs saved, month by month")
	cmd.MarkFlagsMutuallyExclusive("page", "line", "total")
	a.addOutput(cmd)
	a.addColumns(cmd, topColumns)
	return cmd
}

// hostSeen is a running host, as it answered. Its JSON form is stable.
type hostSeen struct {
	// URL is the address that was asked, "unix:PATH" for a socket.
	URL string `json:"url"`
	watch.List
	// Not in the JSON form, which people paste into reports.
	token string
}

// watched asks the hosts that the user runs, all at the same time: a slow host delays the view by topTimeout at most.
// Those that do not answer are left out; the error says that none did.
func watched(ctx context.Context, c *config.Config) ([]hostSeen, error) {
	set := c.Settings().Serve
	// Whether 'thresh serve' runs is unknown before it answers. Proxies of 'thresh wrap' announce themselves.
	asked := []*hostSeen{{URL: set.Listen}}
	if set.TokenFile != "" {
		if _, err := os.Stat(set.TokenFile); err == nil { // asking must not make one
			asked[0].token, _ = access.LocalToken(set.TokenFile)
		}
	}
	if !strings.HasPrefix(set.Listen, "unix:") {
		scheme := "http://"
		if set.TLS.Cert != "" {
			scheme = "https://"
		}
		asked[0].URL = scheme + set.Listen
	}
	for _, w := range announced(set.TokenFile) {
		asked = append(asked, &hostSeen{URL: w.URL, token: w.Token})
	}
	ctx, cancel := context.WithTimeout(ctx, topTimeout)
	defer cancel()
	answered := make([]bool, len(asked))
	var all sync.WaitGroup
	for i, h := range asked {
		// Each writes its own element: the order of the hosts is always the same.
		all.Go(func() { answered[i] = h.ask(ctx) })
	}
	all.Wait()
	var seen []hostSeen
	var at []string
	for i, h := range asked {
		at = append(at, h.URL)
		if answered[i] {
			seen = append(seen, *h)
		}
	}
	if len(seen) == 0 {
		return nil, fmt.Errorf("no host runs: nothing answered at %s; start an agent with 'thresh wrap', or "+
			"'thresh serve'", strings.Join(at, ", "))
	}
	return seen, nil
}

// ask fills in what a host's sessions did, and reports whether it answered. It does not say why one did not: hosts that
// ended a moment ago are nothing to worry about. Another program's answer at the same port does not count.
func (h *hostSeen) ask(ctx context.Context) bool {
	client, base := &http.Client{}, h.URL
	// Hosts end at any time: no connection is kept for the next look.
	transport := &http.Transport{DisableKeepAlives: true}
	if path, unix := strings.CutPrefix(h.URL, "unix:"); unix {
		base = "http://localhost"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}
	}
	client.Transport = transport
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+watch.Page+"/sessions", nil)
	if err != nil {
		return false
	}
	r.Header.Set("Authorization", "Bearer "+h.token)
	answer, err := client.Do(r)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	return answer.StatusCode == http.StatusOK && json.NewDecoder(answer.Body).Decode(&h.List) == nil
}

// printPages prints an address a line. The token is behind the #, which browsers do not send.
func (a *app) printPages(ctx context.Context, c *config.Config) error {
	seen, err := watched(ctx, c)
	if err != nil {
		return err
	}
	for _, h := range seen {
		if strings.HasPrefix(h.URL, "unix:") {
			fmt.Fprintf(a.err, "thresh: %s: a browser cannot open it\n", h.URL)
			continue
		}
		fmt.Fprintln(a.out, h.URL+watch.Page+"#"+h.token)
	}
	return nil
}

func (a *app) printTop(seen []hostSeen) error {
	if a.output == "json" {
		return a.printJSON(struct {
			Hosts []hostSeen `json:"hosts"`
		}{seen})
	}
	for i, h := range seen {
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		if err := a.printHost(a.out, h); err != nil {
			return err
		}
	}
	return nil
}

// printHost prints a line about a host, and the table of its sessions, a separate one because columns that are empty
// for one host are left out for it alone.
func (a *app) printHost(out io.Writer, h hostSeen) error {
	sum := h.sum()
	t := table.New(topColumns...)
	stored, turns := 0, 0
	for _, s := range h.Sessions {
		turns += s.Turns
		if s.Stored != nil {
			stored++
		}
		// SAVED is a share of what would have been sent, CACHED of what the provider billed as a prompt.
		t.Row(s.ID, s.Owner, s.Strategy, table.Int(s.Turns), table.Short(s.Sent), table.Percent(s.Whole-s.Sent, s.Whole),
			table.Percent(s.Usage.Cached, s.Usage.Prompt), table.Int(s.Rewrites), dollars(s.Saved), lastChange(s))
	}
	more := ""
	if stored > 0 {
		more = fmt.Sprintf(" and %d stored", stored)
	}
	say := func(text string) { fmt.Fprintln(out, table.Wrap(text, a.width(), 2)) }
	// Anyone can name a command, and a store's error has the words of a database.
	say(fmt.Sprintf("%s at %s: %s%s; %s", text.Printable(h.Name, maxName), h.URL,
		plural(len(h.Sessions)-stored, "session"), more, tokensText(sum)))
	if h.Error != "" {
		say("the stored sessions are missing: " + text.Printable(h.Error, maxName))
	}
	if m := h.Month; m.Requests > int64(turns) { // otherwise the line above has it
		say("30 days: " + totalText(m))
	}
	for rest := h.Plan; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(p watch.Plan) bool { return p.Owner != rest[0].Owner })
		if n < 0 {
			n = len(rest)
		}
		owner := ""
		if rest[0].Owner != "" {
			owner = text.Printable(rest[0].Owner, maxName) + ": "
		}
		say(owner + planText(rest[:n], dryRun(h)))
		rest = rest[n:]
	}
	if len(h.Sessions) == 0 {
		return nil
	}
	// The real output's width, even if out is a buffer that is drawn later.
	return t.Write(out, table.Options{Width: a.width(), Columns: a.columns})
}

// sum is what the sessions of the host came to.
func (h *hostSeen) sum() (all watch.Total) {
	for _, s := range h.Sessions {
		all = all.Plus(watch.Total{Sent: int64(s.Sent), Whole: int64(s.Whole), Saved: s.Saved})
	}
	return all
}

// totalText says what requests came to.
func totalText(m watch.Total) string {
	return plural(int(m.Requests), "request") + "; " + tokensText(m)
}

func tokensText(m watch.Total) string {
	line := fmt.Sprintf("%s of %s tokens sent, %s saved", table.Short(int(m.Sent)), table.Short(int(m.Whole)),
		table.Percent(int(m.Whole-m.Sent), int(m.Whole)))
	for _, of := range []struct {
		usd  float64
		what string
	}{{m.Saved, "saved"}, {m.Spent, "spent on summaries"}} {
		if usd := dollars(of.usd); usd != "-" {
			line += fmt.Sprintf(", USD %s %s", usd, of.what)
		}
	}
	return line
}

// dryRun reports whether a host is a dry run of 'thresh wrap', which says so in its name.
func dryRun(h hostSeen) bool { return strings.HasSuffix(h.Name, dryRunName) }

const dryRunName = " (dry run)"

// printLine prints what the host in the environment did, else the first one, in a line. That none runs is no error: a
// status line is shown without thresh too.
func (a *app) printLine(ctx context.Context, c *config.Config) error {
	seen, none := watched(ctx, c)
	if none != nil {
		fmt.Fprintln(a.out, "thresh: not running")
		return nil
	}
	h := seen[0]
	if i := slices.IndexFunc(seen, func(h hostSeen) bool {
		return slices.ContainsFunc(a.env, func(set string) bool { return strings.Contains(set, h.URL) })
	}); i >= 0 {
		h = seen[i]
	}
	sum := h.sum()
	line := "thresh " + table.Percent(int(sum.Whole-sum.Sent), int(sum.Whole)) + " saved"
	if sum.Saved >= 0.005 {
		line += fmt.Sprintf(", $%.2f", sum.Saved)
	}
	for _, p := range h.Plan {
		line += fmt.Sprintf(" | %s at %s: %s here", windowName(p), percentOf(p.Used), percentOf(p.Session))
		if p.Session > 0 {
			line += ", else " + percentOf(p.Otherwise)
		}
	}
	fmt.Fprintln(a.out, line)
	return nil
}

// lastChange is why a session's history was changed last, or what is wrong with it. It may be any text of a strategy or
// a plugin; the table makes it safe and cuts it.
func lastChange(s watch.Session) string {
	switch {
	case s.Error != "":
		return "failed: " + s.Error
	case s.Stored != nil:
		return fmt.Sprintf("stored: %d entries, %s tokens", s.Stored.Entries, table.Short(s.Stored.Tokens))
	}
	return s.Reason
}
