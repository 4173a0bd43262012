package wire

import "github.com/hashicorp/go-plugin"

const (
	// ProtocolVersion is the application protocol version in go-plugin's handshake line.
	ProtocolVersion = 1

	// CookieKey and CookieValue are the environment variable that tells a plugin that a host started it. They keep
	// people from starting plugins by mistake; they protect nothing.
	CookieKey   = "THRESH_STRATEGY_PLUGIN"
	CookieValue = "b1f0c4d2e97a46538c20d8e15f7a93be"

	// PluginName is the strategy's name in go-plugin's plugin map. It never travels.
	PluginName = "strategy"

	// EnvLifeline names an inherited descriptor, as a decimal number, that reads end-of-file when the host is gone.
	EnvLifeline = "THRESH_LIFELINE_FD"
)

// Handshake returns the handshake both sides use.
func Handshake() plugin.HandshakeConfig {
	return plugin.HandshakeConfig{
		ProtocolVersion:  ProtocolVersion,
		MagicCookieKey:   CookieKey,
		MagicCookieValue: CookieValue,
	}
}

// Limits of what travels, in bytes.
const (
	// MaxChunk is the most that one chunk of a stream holds.
	MaxChunk = 1 << 20
	// MaxMessage is the most that one framed message (an entry, an edit, a piece) may take.
	MaxMessage = 256 << 20
	// MaxHistory is the most that all messages of one stream may take.
	MaxHistory = 1 << 30
	// MaxGRPCMessage is the receive limit that both sides set. Chunks are far below it; headers with a large taxonomy
	// or many todos may come nearer.
	MaxGRPCMessage = 64 << 20
)
