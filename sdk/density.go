package sdk

// OptimizeParams is what an Optimize is told in addition to [CallParams].
type OptimizeParams struct {
	Density DensityConfig
}

// PartialWrites says whether a partial write (an edit) makes earlier reads of its file stale.
type PartialWrites string

const (
	PartialWritesPrune PartialWrites = "prune"
	PartialWritesKeep  PartialWrites = "keep"
)

// DensityConfig holds the settings under compression.density.
type DensityConfig struct {
	// ReadWritePruning removes reads of a file that a later write made stale.
	ReadWritePruning bool
	// FileDedupe keeps only the last of several inclusions of one file.
	FileDedupe bool
	// RecencyPruning replaces old tool results by a pointer; RecencyRetention is how many results to keep per tool
	// name, at least 1.
	RecencyPruning   bool
	RecencyRetention int
	// PartialWrites is [PartialWritesPrune] unless set.
	PartialWrites PartialWrites
}

// DefaultDensityConfig applies when no setting under compression.density is set.
func DefaultDensityConfig() DensityConfig {
	return DensityConfig{
		ReadWritePruning: true, FileDedupe: true, RecencyRetention: 3, PartialWrites: PartialWritesPrune,
	}
}

// Reason says why an entry was removed or replaced. It is for people; the host decides nothing by it and drops
// ill-formed parts of it. If several reasons apply to one entry, give the first. The zero value is no reason.
type Reason struct {
	// Rule names the rule, for example "stale-read", in at most [MaxRule] characters of a to z, 0 to 9 and hyphens; ""
	// for none.
	Rule string `json:"rule,omitempty"`
	// SupersededBy is the position, in the history that the strategy was given, of the entry that made this one
	// dispensable: the later write of a stale read, the newer result of an old one. It may be the same entry. Nil is
	// none.
	SupersededBy *int `json:"supersededBy,omitempty"`
}

// MaxRule bounds [Reason.Rule], in characters.
const MaxRule = 64

// Clean returns the reason without ill-formed parts, for a history with the given number of entries.
func (r Reason) Clean(entries int) Reason {
	if !validRule(r.Rule) {
		r.Rule = ""
	}
	if by := r.SupersededBy; by != nil && (*by < 0 || *by >= entries) {
		r.SupersededBy = nil
	}
	return r
}

func validRule(rule string) bool {
	if len(rule) > MaxRule {
		return false
	}
	for i := range len(rule) {
		if c := rule[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// DensityMetadata counts what an Optimize did.
type DensityMetadata struct {
	// ReadWritePairsPruned counts pairs of call and response.
	ReadWritePairsPruned int `json:"readWritePairsPruned"`
	// FileDeduplicationsPruned counts inclusions.
	FileDeduplicationsPruned int `json:"fileDeduplicationsPruned"`
	// RecencyPruned counts response blocks.
	RecencyPruned int `json:"recencyPruned"`
}
