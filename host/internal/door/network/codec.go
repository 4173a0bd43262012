package network

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// strictJSON reads requests in JSON. Unlike Connect's own codec it refuses fields that a message does not have: a
// misspelt one would otherwise be ignored, and an agent would not know that it set nothing. name is the subtype of the
// content type under which a codec is found: "json", and the same with a charset, which Connect takes for another
// codec.
type strictJSON struct{ name string }

func (c strictJSON) Name() string { return c.name }

func (c strictJSON) Marshal(message any) ([]byte, error) {
	m, ok := message.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is no protobuf message", message)
	}
	return protojson.Marshal(m)
}

func (c strictJSON) Unmarshal(data []byte, message any) error {
	m, ok := message.(proto.Message)
	if !ok {
		return fmt.Errorf("%T is no protobuf message", message)
	}
	// Connect's own codec fails on this too; the text here says what to send instead.
	if len(data) == 0 {
		return fmt.Errorf("the request is empty; a request without fields is {}")
	}
	return protojson.Unmarshal(data, m)
}
