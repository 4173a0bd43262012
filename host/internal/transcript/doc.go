// Package transcript reads recorded conversations of many agents into histories and writes histories for providers.
//
// It is for the commands of thresh and for agent authors who bring sessions of their own. Start at [ReadFile] or
// [Read]: they find out the format from the content, never from the file name. [Write] writes the native form, OpenAI
// chat and Anthropic messages. [Formats] lists what is known.
//
// Nothing is dropped silently. [Transcript.Notes] has one note for each kind of record that was left out and for each
// unknown field. Blocks that are not understood are carried along ([content.Opaque], [content.Fields]) and noted. What
// the target of [Write] cannot hold is noted by Write. Bookkeeping that is never part of the conversation makes
// [Note.Routine] notes; all other notes are warnings. A file that cannot be read at all is one [*Error] with its place.
//
// How formats map to entries:
//   - What a provider takes as system prompt or instructions at the beginning is [Transcript.System]. A later message
//     of the system or the developer is a pinned human entry with that role in metadata.role.
//   - metadata holds timestamp, model and usage as the recorder wrote them. [Time] and [Transcript.Usage] are what they
//     mean, whatever the recorder's spelling. A request has its usage at the first entry that it was answered with.
//   - One message of a provider is one entry, also where the recorder spread it over several lines. Tool results are
//     entries of the tool, also where the format calls them user messages.
//   - A compaction that the recorder made is a [Boundary]; the entries before it stay in the history.
//
// How the files relate. Reading goes through four layers:
//   - source.go splits the file into lines; read.go decides whether it is one document or one record a line.
//   - sniff.go detects the format from the first records; document.go and lines.go drive the reader that it chose.
//   - A reader for each format: native.go, claudecode.go, codex.go, gemini.go, and messages.go for the lists of
//     messages that OpenAI and Anthropic share. anthropic.go and openai.go read the blocks inside of messages.
//   - builder.go collects entries and notes, system.go the system prompt; object.go is JSON objects with their fields
//     in order; usage.go, time.go and request.go say what the entries tell of the recorded requests.
//
// Writing is write.go, which lays the history out for a provider with plan.go and prints it with write_openai.go or
// write_anthropic.go. errors.go and tally.go are used by both.
package transcript
