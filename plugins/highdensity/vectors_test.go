package highdensity

import (
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/vectors"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

type compressVector struct {
	ID                           string
	History                      []sdk.Content
	EstimateTokens               string
	Threshold, PreserveThreshold float64
	ContextLimit                 int
	CurrentTokenCount            int
	Clean                        bool
}

func (v compressVector) config(t testing.TB) sdktest.Config {
	return sdktest.Config{
		Tools:             vectors.Tools(t),
		Counter:           vectors.Counter(t, v.EstimateTokens),
		Threshold:         v.Threshold,
		PreserveThreshold: &v.PreserveThreshold,
		ContextLimit:      v.ContextLimit,
		CurrentTokens:     &v.CurrentTokenCount,
	}
}
