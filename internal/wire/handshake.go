package wire

import "github.com/hashicorp/go-plugin"

const (
	// ProtocolVersion is the application protocol version in go-plugin's handshake line. go-plugin refuses a plugin
	// with another one, so it changes only when old plugins can no longer work.
	ProtocolVersion = 1

	// CookieKey and CookieValue name the environment variable that tells a plugin that a host started it. A plugin that
	// a user runs by hand lacks it and prints a hint instead of serving. It is no secret and protects nothing.
	CookieKey   = "THRESH_STRATEGY_PLUGIN"
	CookieValue = "b1f0c4d2e97a46538c20d8e15f7a93be"

	// PluginName is the strategy's name in go-plugin's plugin map. It never travels.
	PluginName = "strategy"

	// EnvLifeline names the environment variable with the number, in decimal, of an inherited file descriptor. Reading
	// from it returns end-of-file once the host is gone, even after SIGKILL, so that plugins do not outlive their host.
	EnvLifeline = "THRESH_LIFELINE_FD"
)

// Handshake returns the handshake that both sides pass to go-plugin.
func Handshake() plugin.HandshakeConfig {
	return plugin.HandshakeConfig{
		ProtocolVersion:  ProtocolVersion,
		MagicCookieKey:   CookieKey,
		MagicCookieValue: CookieValue,
	}
}

// Limits of what travels, in bytes.
const (
	// MaxChunk is the largest chunk of a stream. It stays well below gRPC's default message limit of 4 MiB, so that
	// libraries in other languages need no configuration to receive one.
	MaxChunk = 1 << 20
	// MaxMessage is the largest framed message (an entry, an edit, a piece). Images and command output make large
	// entries.
	MaxMessage = 256 << 20
	// MaxHistory is the largest sum of all messages of one stream. It bounds what a broken peer can make this process
	// allocate.
	MaxHistory = 1 << 30
	// MaxGRPCMessage is the receive limit that both sides set. Chunks are far below it; headers with a large taxonomy
	// or many todos may come nearer.
	MaxGRPCMessage = 64 << 20
	// Window is how much may be under way to a plugin or to the host before it is read, on one stream and on one
	// connection. A fixed one keeps gRPC from measuring the connection by pings, of which there would be one in each
	// direction in every turn. It has room for the history of a long session, so that sending one does not wait for the
	// other process to be scheduled.
	Window = 8 << 20
	// Buffer is how much the host writes at a time to a plugin, and the plugin reads. Histories are megabytes.
	Buffer = 256 << 10
)
