package wire

import (
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
	"github.com/thresh-dev/thresh/sdk"
)

// names has UNSPECIFIED, the zero value, for a word that the protocol does not have.
type names[W ~string, E comparable] map[W]E

// from reports known as false for UNSPECIFIED and for values of a newer peer.
func (n names[W, E]) from(value E) (word W, known bool) {
	for word, v := range n {
		if v == value {
			return word, true
		}
	}
	return "", false
}

var compressReasons = names[sdk.CompressReason, threshv1.CompressReason]{
	sdk.ReasonThreshold: threshv1.CompressReason_COMPRESS_REASON_THRESHOLD,
	sdk.ReasonHardLimit: threshv1.CompressReason_COMPRESS_REASON_HARD_LIMIT,
	sdk.ReasonManual:    threshv1.CompressReason_COMPRESS_REASON_MANUAL,
	sdk.ReasonCacheCold: threshv1.CompressReason_COMPRESS_REASON_CACHE_COLD,
}

var triggerModes = names[sdk.TriggerMode, threshv1.TriggerMode]{
	sdk.ModeContinuous: threshv1.TriggerMode_TRIGGER_MODE_CONTINUOUS,
	sdk.ModeThreshold:  threshv1.TriggerMode_TRIGGER_MODE_THRESHOLD,
}

var configTypes = names[sdk.ConfigType, threshv1.ConfigType]{
	sdk.Boolean: threshv1.ConfigType_CONFIG_TYPE_BOOLEAN,
	sdk.Integer: threshv1.ConfigType_CONFIG_TYPE_INTEGER,
	sdk.Number:  threshv1.ConfigType_CONFIG_TYPE_NUMBER,
	sdk.String:  threshv1.ConfigType_CONFIG_TYPE_STRING,
}
