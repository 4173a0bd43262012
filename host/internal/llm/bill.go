package llm

import (
	"context"
	"errors"
	"math"
	"net/http"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/tokens"
)

// Book counts what one request to a provider may cost, in US dollars, before it is sent; [math.Inf] if the model has no
// prices. An error keeps the request from being sent. settle is told what it did cost, or the same if nobody knows.
type Book func(ctx context.Context, usd float64) (settle func(usd float64), err error)

// bill is what the requests of one call take.
type bill struct {
	prices  config.Prices
	book    Book // nil: nobody counts
	counter *tokens.Counter
	// estimate is for each request: the prompt as the host counts it, and the longest answer that it allows.
	estimate provider.Usage
	used     provider.Usage
}

// pay books a request, sends it, and settles what it took.
func (b *bill) pay(ctx context.Context, send func() (*answer, *Error)) (a *answer, failed *Error, refused error) {
	settle := func(float64) {}
	if b.book != nil {
		may := cost(b.prices, b.estimate)
		if !b.prices.Known() {
			may = math.Inf(1)
		}
		if settle, refused = b.book(ctx, may); refused != nil {
			return nil, nil, refused
		}
	}
	a, failed = send()
	took := b.took(a)
	b.used = b.used.Plus(took)
	settle(cost(b.prices, took))
	return a, failed, nil
}

// near is how far a provider's count of a text may be from the host's, as a factor: encodings differ. around is what it
// may have in addition for the form of a prompt, in tokens.
const near, around = 4, 1000

// took returns what a request took: what the provider reports, as far as it is plausible, else the estimate. An answer
// that broke off may have gone on where nobody saw it.
func (b *bill) took(a *answer) provider.Usage {
	u, own := a.usage, b.estimate.Prompt()
	switch prompt := u.Prompt(); {
	case a.free:
		return provider.Usage{}
	case prompt <= 0 || prompt*near < own || prompt > own*near+around:
		return b.estimate
	case a.finish == "" || u.Output > b.estimate.Output || u.Output*near < b.counter.Text(a.text.String()):
		u.Output = b.estimate.Output
	}
	return u
}

// free reports whether a request certainly cost nothing: it was not sent, or refused. Where a gateway gave up on an
// answer, the provider may have gone on.
func (x *exchange) free(err error) bool {
	if !x.sent.Load() {
		return true
	}
	refused, ok := errors.AsType[*refusal](err)
	if !ok || refused.status == http.StatusOK {
		return false
	}
	switch refused.status {
	case http.StatusRequestTimeout, http.StatusBadGateway, http.StatusGatewayTimeout, 499, 524:
		return false
	}
	return true
}
