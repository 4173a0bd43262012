package config

// removed says what holds instead of each setting, or value of one (KEY=VALUE), that earlier versions had. A
// configuration that still names one gets an error with this text.
var removed = map[string]string{
	"compression.hardLimit=ladder":  "write make-room",
	"compression.llm.cooldown":      "after an error that a retry cannot help, the model is not called for a minute",
	"compression.llm.maxCalls":      "one compression makes at most 32 model calls; compression.llm.maxTokens limits its cost",
	"compression.userMessageBudget": "up to 20,000 tokens of people's messages are kept word for word",
	"compression.verification":      "a summary is not verified by a second call",
	"plugins.maxAnswerBytes":        "an answer has at most 64 MiB",
	"plugins.maxHostCalls":          "a plugin asks its host at most 10,000 times in one compression",
	"plugins.maxJsonDepth":          "JSON is nested at most 1,000 levels deep",
	"plugins.stopTimeout":           "a plugin has two seconds to exit before it is killed",
	"proxy.onError":                 "a request that cannot be prepared is sent as before, or else as the agent wrote it",
}
