package sdk

import "github.com/thresh-dev/thresh/sdk/content"

// The model of a history, from package [content].
type (
	// Content is one entry of a history. See [content.Content].
	Content = content.Content
	// Speaker says who an entry is from. See [content.Speaker].
	Speaker = content.Speaker
	// Block is one part of an entry. See [content.Block].
	Block = content.Block
	// Text is what a speaker said in words. See [content.Text].
	Text = content.Text
	// ToolCall asks for a tool to be run. See [content.ToolCall].
	ToolCall = content.ToolCall
	// ToolResponse is what a tool answered. See [content.ToolResponse].
	ToolResponse = content.ToolResponse
	// Media is an attachment. See [content.Media].
	Media = content.Media
	// Thinking is a model's reasoning. See [content.Thinking].
	Thinking = content.Thinking
	// Code is a piece of code. See [content.Code].
	Code = content.Code
	// Opaque is a block that this version does not know. See [content.Opaque].
	Opaque = content.Opaque
)

const (
	Human = content.Human
	AI    = content.AI
	Tool  = content.Tool
)
