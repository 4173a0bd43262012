package probe

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"testing"
)

// The means of two clusters are 0 and 1: no mean between them is certain, however many questions they have.
func TestIntervalsAreOfClusters(t *testing.T) {
	if i := interval([]measured{{0, 100}, {100, 100}}); i == nil || *i != [2]float64{0, 1} {
		t.Errorf("%v", i)
	}
	if interval([]measured{{1, 2}}) != nil {
		t.Error("one cluster has an interval")
	}
	// 64 clusters of one question each: the standard error of a share of a half is 1/16.
	var many []measured
	for i := range 64 {
		many = append(many, measured{float64(i % 2), 1})
	}
	if i := interval(many); math.Abs(i[0]-(0.5-1.96/16)) > 0.02 || math.Abs(i[1]-(0.5+1.96/16)) > 0.02 {
		t.Errorf("%v", i)
	}
}

// What was asked with one wording must not be mixed with another: a changed prompt needs a new version.
func TestAPromptChangesWithItsVersion(t *testing.T) {
	sum := sha256.Sum256([]byte(questionsPrompt + answersPrompt + gradesPrompt + searchNothing + searchByCommand))
	want := map[int]string{2: "b328793c"}
	if got := hex.EncodeToString(sum[:4]); want[PromptVersion] != got {
		t.Errorf("version %d of the prompts is %s, not %s: raise PromptVersion and add its digest", PromptVersion, got,
			want[PromptVersion])
	}
}
