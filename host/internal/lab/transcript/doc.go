// Package transcript reads recorded conversations of many agents into histories and writes histories for providers.
//
// It is for the commands of thresh and for the lab. Start at [ReadFile] or [Read]: they find out the format from the
// content, never from the file name. [Write] writes the native form and those of OpenAI and Anthropic. [Formats] lists
// what is known.
//
// Nothing is dropped silently. [Transcript.Notes] has one note for each kind of record that was left out and for each
// unknown field. Blocks that are not understood are carried along ([content.Opaque], [content.Fields]) and noted.
// Bookkeeping that is never part of the conversation makes [Note.Routine] notes; all other notes are warnings. A file
// that cannot be read at all is one [*Error] with its place.
//
// How formats map to entries:
//   - What a provider takes as system prompt or instructions at the beginning is [Transcript.System]. A later message
//     of the system or the developer is a pinned human entry with that role in metadata.role.
//   - metadata holds timestamp, model and usage as the recorder wrote them; [Time] and [Transcript.Usage] interpret
//     them. A request has its usage at the first entry that answered it.
//   - One message of a provider is one entry, even if the recorder spread it over several lines. Tool results are
//     entries of the tool, even if the format calls them user messages.
//   - What another session asked, and this one repeats, is in the history and no request of this one: fork.go.
//   - A recorder's compaction is a [Boundary]; the entries before it are kept in the history.
//
// Reading goes through four layers: source.go splits the file into lines; sniff.go detects the format, and document.go
// or lines.go drives its reader; a reader for each format (format.go lists them) hands messages to builder.go, and
// understood.go judges what was missed. How the APIs' messages are read and written is in host/internal/provider: agents
// record what they exchange with an API, and parts.go reads it as the API's package does.
//
// Providers document their own forms. Agents do not document what they record, so each reader rests on files: sessions
// that their authors published, sessions recorded with the agent for this purpose, or samples made by hand. The comment
// on each reader says which, and shows what a record looks like; "…" shortens long values.
//
// What agents record changes with every version. A reader therefore names what it knows, and tallies everything else
// ([builder.unread], [builder.unknown]), in three classes:
//   - It repeats the conversation for the screen. Reading it would double messages.
//   - It steers the agent, and its model never saw it: progress, permissions, snapshots of files, sub-agents.
//   - It is unknown. It counts as missed conversation, and understood.go decides whether too much is missing.
package transcript
