package tools

import "strings"

// Recall is the tool with which a model reads again what was removed from its conversation. Marks in conversations have
// its name, so it never changes.
const Recall = "thresh_recall"

// Recalls reports whether a tool is [Recall]: agents put the name of its server before it. What it returns was said
// before. It is no new evidence of anything: it reads no file, and makes nothing stale.
func Recalls(name string) bool { return strings.HasSuffix(name, Recall) }
