package wire

import "github.com/hashicorp/go-plugin"

const (
	// ProtocolVersion is the application protocol version in go-plugin's handshake line. go-plugin refuses a plugin
	// with another one, so it changes only when old plugins can no longer work.
	ProtocolVersion = 1

	// CookieKey and CookieValue are an environment variable that tells a plugin that a host started it. A plugin run by
	// hand lacks it and prints a hint instead of serving. It is no secret and protects nothing.
	CookieKey   = "THRESH_STRATEGY_PLUGIN"
	CookieValue = "b1f0c4d2e97a46538c20d8e15f7a93be"

	// PluginName is the key in go-plugin's plugin map. It never travels.
	PluginName = "strategy"

	// EnvLifeline names the variable with the number, in decimal, of an inherited file descriptor. Reading from it
	// returns end-of-file once the host is gone, even after SIGKILL, so plugins do not outlive their host.
	EnvLifeline = "THRESH_LIFELINE_FD"
)

func Handshake() plugin.HandshakeConfig {
	return plugin.HandshakeConfig{
		ProtocolVersion:  ProtocolVersion,
		MagicCookieKey:   CookieKey,
		MagicCookieValue: CookieValue,
	}
}

const (
	// MaxChunk bounds a chunk of a stream. It is well below gRPC's default message limit of 4 MiB, so libraries in
	// other languages need no configuration.
	MaxChunk = 1 << 20
	// MaxMessage bounds a framed message (an entry, an edit, a piece). Images and command output make large entries.
	MaxMessage = 256 << 20
	// MaxHistory bounds the sum of all messages of one stream: what a broken peer can make this process allocate.
	MaxHistory = 1 << 30
	// MaxGRPCMessage is the receive limit that both sides set. Headers with a large taxonomy or many todos may exceed a
	// chunk.
	MaxGRPCMessage = 64 << 20
	// Window is how much may be in flight unread, on one stream and on one connection. A fixed one keeps gRPC from
	// measuring the connection by a ping in each direction in every turn. It has room for the history of a long
	// session: sending one does not wait for the other process to be scheduled.
	Window = 8 << 20
	// Buffer is how much the host writes to a plugin at a time, and the plugin reads.
	Buffer = 256 << 10
)
