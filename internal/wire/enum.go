package wire

import (
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
	"github.com/thresh-dev/thresh/sdk/contract"
)

type names[W ~string, E comparable] map[W]E

// to returns UNSPECIFIED, the zero value, for a word that the protocol does not have.
func (n names[W, E]) to(word W) E { return n[word] }

// from reports known as false for UNSPECIFIED and for values of a newer peer.
func (n names[W, E]) from(value E) (word W, known bool) {
	for word, v := range n {
		if v == value {
			return word, true
		}
	}
	return "", false
}

var compressReasons = names[contract.CompressReason, threshv1.CompressReason]{
	contract.ReasonThreshold: threshv1.CompressReason_COMPRESS_REASON_THRESHOLD,
	contract.ReasonHardLimit: threshv1.CompressReason_COMPRESS_REASON_HARD_LIMIT,
	contract.ReasonManual:    threshv1.CompressReason_COMPRESS_REASON_MANUAL,
	contract.ReasonCacheCold: threshv1.CompressReason_COMPRESS_REASON_CACHE_COLD,
}

var triggerModes = names[contract.TriggerMode, threshv1.TriggerMode]{
	contract.ModeContinuous: threshv1.TriggerMode_TRIGGER_MODE_CONTINUOUS,
	contract.ModeThreshold:  threshv1.TriggerMode_TRIGGER_MODE_THRESHOLD,
}

var configTypes = names[contract.ConfigType, threshv1.ConfigType]{
	contract.Boolean: threshv1.ConfigType_CONFIG_TYPE_BOOLEAN,
	contract.Integer: threshv1.ConfigType_CONFIG_TYPE_INTEGER,
	contract.Number:  threshv1.ConfigType_CONFIG_TYPE_NUMBER,
	contract.String:  threshv1.ConfigType_CONFIG_TYPE_STRING,
}
