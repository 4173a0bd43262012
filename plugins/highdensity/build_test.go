package main

import (
	"encoding/json"

	"github.com/thresh-dev/thresh/sdk"
)

// call and answer are an exchange with one tool.
func call(id, tool, params string) sdk.Content {
	return sdk.Content{Speaker: sdk.AI, Blocks: []sdk.Block{sdk.ToolCall{ID: id, Name: tool,
		Parameters: json.RawMessage(params)}}}
}

func answer(id, tool, result string) sdk.Content {
	return sdk.Content{Speaker: sdk.Tool, Blocks: []sdk.Block{sdk.ToolResponse{CallID: id,
		ToolName: tool}.WithResultText(result)}}
}

func said(by sdk.Speaker, text string) sdk.Content {
	return sdk.Content{Speaker: by, Blocks: []sdk.Block{sdk.Text{Text: text}}}
}
