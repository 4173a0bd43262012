// Package transcript reads recorded conversations of many agents into histories and writes histories for providers.
//
// It is for the commands of thresh and for agent authors who bring sessions of their own. Start at [ReadFile] or [Read]:
// they find out the format from the content, never from the file name. [Write] writes the native form, OpenAI chat and
// Anthropic messages. [Formats] lists what is known.
//
// Nothing is dropped silently. What a format holds beyond the conversation is counted in [Transcript.Notes], one note
// for each kind of record and for each field that the format is not known to have; what is not understood is carried
// ([content.Opaque], [content.Fields]) and noted; what the target of [Write] cannot hold is noted by Write. Bookkeeping
// that is no conversation by definition makes [Note.Routine] notes; all others are warnings. What cannot be read at all is
// one [*Error] that says where.
//
// How formats map to entries:
//   - A system prompt is a human entry with metadata.role "system" at the beginning, developer messages have "developer".
//   - metadata holds timestamp, model and usage as the recorder wrote them. [Time] and [Transcript.Usage] are what they
//     mean, whatever the recorder's spelling. A request has its usage at the first entry that it was answered with.
//   - One message of a provider is one entry, also where the recorder spread it over several lines. Tool results are
//     entries of the tool, also where the format calls them user messages.
//   - A compaction that the recorder made is a [Boundary]; the entries before it stay in the history.
package transcript
