package llmtest

import (
	"cmp"
	"net/http"
	"strconv"
	"time"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// Reply is what a server answers. The zero value is an empty answer that ended normally. Replies are values: one can be
// queued many times. How the fields work together is up to the Fault.
type Reply struct {
	// Thinking is sent before Text, as the provider's reasoning.
	Thinking string
	// Text is the answer, or what [Fault] makes of it.
	Text string
	// FinishReason is the stop reason; "" is the protocol's word for a normal end.
	FinishReason string
	// Usage is in tokens; for the zero value the server counts.
	Usage Usage
	// Model is the name that the answer reports; "" repeats the requested one.
	Model string
	// ChunkBytes is about how many bytes of text go into one event; 0 means 64.
	ChunkBytes int
	// Pace is the pause before each event.
	Pace time.Duration
	// Fault is what goes wrong; "" means nothing.
	Fault Fault
	// Status, Type, Code and Message are what [FaultStatus] and [FaultInStream] report. Header is sent with any
	// answer.
	Status              int
	Type, Code, Message string
	Header              http.Header
}

// Usage is what a call cost, in tokens. Input excludes the tokens that were read from and written to the cache.
type Usage struct {
	Input, Output, CacheRead, CacheWrite int
}

// Fault is a way in which a server fails.
type Fault string

// The faults.
const (
	// FaultStatus answers with an error.
	FaultStatus Fault = "status"
	// FaultInStream sends Text and then an error as an event.
	FaultInStream Fault = "in-stream"
	// FaultCut ends the stream cleanly after Text, without the closing events. FaultReset breaks the connection at
	// that point.
	FaultCut   Fault = "cut"
	FaultReset Fault = "reset"
	// FaultGarbage answers 200 with Text as an HTML page, FaultGarbledStream with Text as the data of an event.
	FaultGarbage       Fault = "garbage"
	FaultGarbledStream Fault = "garbled-stream"
	// FaultEndless repeats Text until the client disconnects.
	FaultEndless Fault = "endless"
	// FaultHang sends nothing until the client disconnects; FaultStall sends the beginning of an answer first.
	FaultHang  Fault = "hang"
	FaultStall Fault = "stall"
)

// Fail answers with an HTTP status and the provider's usual text for it. Type and message are those that the provider
// uses for this status; set them on the result for others.
func Fail(status int) Reply { return Reply{Fault: FaultStatus, Status: status} }

// RateLimited answers 429 with a Retry-After of wait. A wait of 0 sends no Retry-After.
func RateLimited(wait time.Duration) Reply {
	r := Fail(http.StatusTooManyRequests)
	if wait > 0 {
		r.Header = http.Header{"Retry-After": {strconv.FormatFloat(wait.Seconds(), 'f', -1, 64)}}
	}
	return r
}

// Overloaded answers 529, as Anthropic does.
func Overloaded() Reply { return Fail(529) }

// failure fills in the provider's usual words for a status.
func (r Reply) failure() failure {
	f := failure{status: r.Status, kind: r.Type, code: r.Code, message: r.Message}
	// Type and message. Both protocols know these words, and the client must read either.
	usual := map[int][2]string{
		400: {"invalid_request_error", "The request is not valid."},
		401: {"authentication_error", "Invalid API key."},
		402: {"billing_error", "Your balance is too low."},
		403: {"permission_error", "Your key has no permission to use this model."},
		404: {"not_found_error", "The model does not exist."},
		413: {"request_too_large", "Request exceeds the maximum size."},
		429: {"rate_limit_error", "Rate limit reached."},
		500: {"api_error", "Internal server error."},
		529: {"overloaded_error", "Overloaded."},
	}
	words := usual[f.status]
	f.kind = cmp.Or(f.kind, words[0], "api_error")
	f.message = cmp.Or(f.message, words[1], http.StatusText(f.status))
	return f
}

// wire is the reply as modelapi sends it; what it does not count, the server does.
func (r Reply) wire(req Request) modelapi.Reply {
	u := r.Usage
	if u == (Usage{}) {
		u = Usage{Input: req.InputTokens, Output: Tokens(r.Thinking) + Tokens(r.Text)}
	}
	return modelapi.Reply{Thinking: r.Thinking, Text: r.Text, Finish: r.FinishReason, Model: r.Model,
		Chunk: cmp.Or(r.ChunkBytes, 64), Input: u.Input, Cached: u.CacheRead, Written: u.CacheWrite, Output: u.Output}
}
