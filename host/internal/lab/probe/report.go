package probe

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/pricing"
)

// Report is what the grades add up to.
type Report struct {
	Prompts  int `json:"promptVersion"`
	Sessions int `json:"sessions"`
	Moments  int `json:"moments"`
	// Questions counts those that score: not those that were Dropped, because nothing removed did not answer them in
	// full, nor those that are Open, because an answer or a grade of some variant is missing.
	Questions int `json:"questions"`
	Dropped   int `json:"dropped"`
	Open      int `json:"open"`
	// Agreed counts the answers to which both graders gave the same grade, of Graded.
	Agreed int `json:"agreed"`
	Graded int `json:"graded"`
	// Clusters is what is drawn for intervals: "sessions", or "moments" or "questions" if there is only one of the
	// former.
	Clusters string `json:"clusters"`
	// Variants begin with doing nothing.
	Variants []Row `json:"variants"`
	// Differences are of the first variant that is no doing nothing, minus each other, and of each variant with a search
	// minus the one without, question by question.
	Differences []Difference `json:"differences"`
	ByMoment    []Part       `json:"byMoment"`
	// Missing and Problems say why the report is not complete.
	Missing  []Task   `json:"missing"`
	Problems []string `json:"problems"`
	// Failed are the replays that failed, or were not made.
	Failed []string `json:"failed,omitempty"`
}

// Score is a mean over questions: of 1 for a full answer, 0.5 for a part, 0 for none.
type Score struct {
	Mean float64 `json:"mean"`
	// Interval is the bootstrap's 95 %; nil without two clusters.
	Interval  *[2]float64 `json:"interval,omitempty"`
	Questions int         `json:"questions"`
}

// String is the mean. What is below 1 must not read 1.00, which would claim that nothing was lost.
func (s Score) String() string {
	switch {
	case s.Questions == 0:
		return "-"
	case s.Mean < 1:
		return fmt.Sprintf("%.2f", min(s.Mean, 0.99))
	}
	return "1.00"
}

// Between is the interval; "-" without one.
func (s Score) Between() string {
	if s.Interval == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f…%.2f", s.Interval[0], s.Interval[1])
}

type Row struct {
	Variant string `json:"variant"`
	// Score is over the moments that are spread evenly; After over those right after the deepest rewrites.
	Score Score            `json:"score"`
	Kinds map[string]Score `json:"kinds"`
	After Score            `json:"afterRewrites"`
	// Wrong is the share of answers that say something false, Unknown of those that say that it is not known.
	Wrong   float64 `json:"wrong"`
	Unknown float64 `json:"unknown"`
	// Worst is the moment with the lowest score, of those with at least three questions.
	Worst *Part `json:"worst,omitempty"`
	// Left is the mean request at the evenly spread moments, in tokens.
	Left int `json:"tokensLeft"`
	// Searches and Found are how often was searched for a question, and the tokens that this brought, on average.
	Searches *Score `json:"searches,omitempty"`
	Found    *Score `json:"tokensFound,omitempty"`
	// Relative is what the sessions cost against doing nothing. With a search, SearchUSD is in it: what the searches at
	// the evenly spread moments would have cost the sessions.
	Relative  float64 `json:"relative"`
	SearchUSD float64 `json:"searchUsd,omitempty"`
	OverLimit int     `json:"overLimit"`
}

// Difference is how much better the first variant did than another.
type Difference struct {
	Variant string `json:"variant"`
	Than    string `json:"than"`
	Score   Score  `json:"score"`
}

// Part is the score of a variant at one moment.
type Part struct {
	Session string   `json:"session"`
	Turn    int      `json:"turn"`
	Moment  string   `json:"moment"`
	Spread  bool     `json:"spread,omitempty"`
	After   []string `json:"after,omitempty"`
	Variant string   `json:"variant"`
	Tokens  int      `json:"tokens"`
	Score   float64  `json:"score"`
	// Questions that score; Wrong and Unknown are shares of them.
	Questions int     `json:"questions"`
	Wrong     float64 `json:"wrong"`
	Unknown   float64 `json:"unknown"`
}

// Points is the score as [Score.String] has it; "-" for nil.
func (p *Part) Points() string {
	if p == nil {
		return "-"
	}
	return Score{Mean: p.Score, Questions: p.Questions}.String()
}

// worstOf is how many questions a moment must have to be the worst of a variant.
const worstOf = 3

func (st *State) Report() *Report {
	r := &Report{
		Prompts: PromptVersion, Variants: []Row{}, Differences: []Difference{}, ByMoment: []Part{},
		Missing: append([]Task{}, st.Todo...), Problems: append([]string{}, st.Problems...),
	}
	all := st.collect(r)
	sessions, moments := map[string]bool{}, map[string]bool{}
	for _, s := range all {
		sessions[s.at.session.ID], moments[s.at.moment.ID] = true, true
	}
	r.Sessions, r.Moments, r.Questions = len(sessions), len(moments), len(all)
	m := measure{cluster: func(s *scored) string { return s.at.session.ID }}
	switch r.Clusters = "sessions"; {
	case len(sessions) > 1:
	case len(moments) > 1:
		r.Clusters, m.cluster = "moments", func(s *scored) string { return s.at.moment.ID }
	default:
		r.Clusters, m.cluster = "questions", func(s *scored) string { return s.id }
	}
	spread := only(all, func(s *scored) bool { return s.at.moment.Spread })
	after := only(all, func(s *scored) bool { return len(s.at.moment.After) > 0 })
	first := st.variants[0]
	if first == compare.NothingName && len(st.variants) > 1 {
		first = st.variants[1]
	}
	for _, v := range st.variants {
		m.value = func(s *scored) float64 { return s.results[v].score }
		row := Row{Variant: v, Kinds: map[string]Score{}, Score: m.mean(spread), After: m.mean(after)}
		for _, k := range Kinds {
			row.Kinds[k] = m.mean(only(spread, func(s *scored) bool { return s.Kind == k }))
		}
		part := partOf(spread, v)
		row.Wrong, row.Unknown = part.Wrong, part.Unknown
		for _, p := range st.moments {
			part := partOf(only(all, func(s *scored) bool { return s.at == p }), v)
			part.Session, part.Turn, part.Moment = p.session.Name, p.moment.Turn, p.moment.ID
			part.Spread, part.After, part.Tokens = p.moment.Spread, p.moment.After, p.units[v].Tokens
			r.ByMoment = append(r.ByMoment, part)
			if part.Questions >= worstOf && (row.Worst == nil || part.Score < row.Worst.Score) {
				row.Worst = &part
			}
		}
		if strings.HasSuffix(v, Searching) {
			row.Searches = m.of(spread, func(s *scored) float64 { return s.results[v].searches })
			row.Found = m.of(spread, func(s *scored) float64 { return s.results[v].found })
		}
		st.sizes(&row)
		r.Variants = append(r.Variants, row)
		than := func(better, worse string) {
			if better != worse && slices.Contains(st.variants, worse) {
				by := func(s *scored) float64 { return s.results[better].score - s.results[worse].score }
				r.Differences = append(r.Differences, Difference{better, worse, *m.of(spread, by)})
			}
		}
		if v != compare.NothingName {
			than(first, v)
		}
		if without, ok := strings.CutSuffix(v, Searching); ok && without != first {
			than(v, without)
		}
	}
	return r
}

// collect returns the questions that score, and counts the others.
func (st *State) collect(r *Report) (all []*scored) {
	for _, p := range st.moments {
		r.Agreed += p.agreed
		r.Graded += p.both
		for _, q := range p.questions {
			whole, ok := q.results[compare.NothingName]
			switch {
			case ok && whole.score < 1:
				r.Dropped++
			case len(q.results) < len(st.variants):
				r.Open++
			default:
				all = append(all, q)
			}
		}
	}
	for _, s := range st.sessions {
		for _, name := range st.variants {
			at := slices.IndexFunc(s.Variants, func(v Variant) bool { return v.Name == name })
			switch {
			case at < 0:
				r.Failed = append(r.Failed, s.Name+": "+name+": the session was not replayed with it")
			case s.Variants[at].Error != "":
				r.Failed = append(r.Failed, s.Name+": "+name+": "+s.Variants[at].Error)
			case len(s.Variants[at].Contexts) < len(s.Moments):
				r.Failed = append(r.Failed, s.Name+": "+name+": not replayed at all moments: plan it again")
			}
		}
	}
	return all
}

func only(all []*scored, is func(*scored) bool) (out []*scored) {
	for _, s := range all {
		if is(s) {
			out = append(out, s)
		}
	}
	return out
}

func partOf(all []*scored, variant string) (p Part) {
	p.Variant, p.Questions = variant, len(all)
	for _, s := range all {
		r := s.results[variant]
		p.Score += r.score
		p.Wrong += r.wrong
		if r.unknown {
			p.Unknown++
		}
	}
	n := float64(max(1, len(all)))
	p.Score, p.Wrong, p.Unknown = p.Score/n, p.Wrong/n, p.Unknown/n
	return p
}

func (st *State) sizes(row *Row) {
	moments, usd, nothing := 0, 0.0, 0.0
	for _, p := range st.moments {
		if c, ok := p.units[row.Variant]; ok && p.moment.Spread {
			moments++
			row.Left += c.Tokens
			if l := p.session.prices(row.Variant); l != nil {
				row.SearchUSD += p.searchUSD(c, l)
			}
		}
	}
	row.Left /= max(1, moments)
	for _, s := range st.sessions {
		for _, v := range s.Variants {
			if v.Name == row.Variant && v.Error == "" {
				usd, nothing = usd+v.USD, nothing+v.Nothing
				row.OverLimit += v.OverLimit
			}
		}
	}
	if nothing > 0 {
		row.Relative = cmp.Or((usd+row.SearchUSD)/nothing-1, 0)
	}
}

// prices are those of a variant's searches; nil if it has none.
func (s *Session) prices(variant string) *pricing.List {
	for _, v := range s.Variants {
		if v.Name == variant {
			return v.Prices
		}
	}
	return nil
}

// measure says what is measured of a question, and which questions depend on each other.
type measure struct {
	value   func(*scored) float64
	cluster func(*scored) string
}

// of is the mean of a value.
func (m measure) of(all []*scored, value func(*scored) float64) *Score {
	m.value = value
	s := m.mean(all)
	return &s
}

func (m measure) mean(all []*scored) Score {
	sums := map[string]measured{}
	var total measured
	for _, s := range all {
		one := measured{m.value(s), 1}
		total = total.plus(one)
		sums[m.cluster(s)] = sums[m.cluster(s)].plus(one)
	}
	out := Score{Questions: total.n}
	if total.n > 0 {
		out.Mean = total.sum / float64(total.n)
	}
	var clusters []measured
	for _, name := range slices.Sorted(maps.Keys(sums)) { // the order of a map would change the draws
		clusters = append(clusters, sums[name])
	}
	out.Interval = interval(clusters)
	return out
}

// measured is a sum over some questions, and their number.
type measured struct {
	sum float64
	n   int
}

func (m measured) plus(o measured) measured { return measured{m.sum + o.sum, m.n + o.n} }

// resamples is how often a bootstrap draws: enough for both ends of the interval to be stable to two decimals.
const resamples = 2000

// interval returns the middle 95 % of means over clusters drawn with replacement. Questions of one cluster depend on
// each other, so it is clusters that are drawn, not questions. The draws are the same each time. It is nil if there are
// fewer than two clusters.
func interval(clusters []measured) *[2]float64 {
	if len(clusters) < 2 {
		return nil
	}
	random := rand.New(rand.NewPCG(1, 2))
	means := make([]float64, 0, resamples)
	for range resamples {
		var drawn measured
		for range clusters {
			drawn = drawn.plus(clusters[random.IntN(len(clusters))])
		}
		means = append(means, drawn.sum/float64(drawn.n))
	}
	slices.Sort(means)
	return &[2]float64{means[resamples/40], means[resamples-1-resamples/40]}
}
