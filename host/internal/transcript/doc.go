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
//   - sniff.go detects the format from the first records; document.go and lines.go drive the reader that it chose,
//     which format.go lists. cut.go repairs a document that was cut off.
//   - There is a reader for each format. Those of agents are in files of the agents' names (gemini_lines.go has the two
//     newer forms of Gemini CLI), native.go reads our own form, and messages.go the lists of messages that OpenAI's and
//     Anthropic's APIs share. anthropic.go and openai.go read the blocks inside of messages; responses.go reads items.
//     Readers of recorders that write less than a message per record share speech.go.
//   - builder.go collects entries and notes, system.go the system prompt; understood.go judges what was missed;
//     object.go is JSON objects with their fields in order; usage.go, time.go and request.go say what the entries tell
//     of the recorded requests.
//
// Messages that a running agent adds in its provider's form go through the same readers, but must come back unchanged:
// form.go and form_check.go, form_exact.go and parts.go do that.
//
// Where the facts come from. Providers document their own forms: those of OpenAI's and Anthropic's APIs are read and
// written by that documentation. Agents do not document what they record, so each of their readers rests on files:
// recorded sessions that their authors published, sessions that were recorded with the agent for this purpose, or,
// where neither was at hand, samples made by hand. The comment on each reader says which, and shows what a record looks
// like; long values are shortened there to "…".
//
// What agents record changes with every version. A reader therefore names what it knows, and tallies everything else
// ([builder.unread], [builder.unknown]). Each kind that is left out falls into one of three classes:
//   - It repeats the conversation for the screen. Reading it would double messages.
//   - It steers the agent, and its model never saw it: progress, permissions, snapshots of files, sub-agents, whose
//     context is one of their own.
//   - It is not known. It counts as missed conversation, and understood.go decides whether too much is missing.
//
// Writing is write.go, which lays the history out for a provider with plan.go and prints it with write_openai.go or
// write_anthropic.go. errors.go and tally.go are used by both.
package transcript
