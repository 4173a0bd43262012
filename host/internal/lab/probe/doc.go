// Package probe asks models what they can still tell from what strategies leave of recorded sessions.
//
// It is for the command `thresh-probe`. A book ([Book]) is a directory in which the work is kept: [Book.Plan] replays
// sessions, chooses moments and keeps what each variant left at them. [Book.Check] reads what was worked through so
// far, writes the sheets that have become possible, and says what is missing. Anybody can work through a sheet;
// [Book.Ask] has a provider's model do it. [State.Report] adds up the grades.
//
// A moment has one sheet on which questions are written from the whole history and from what came next; one for each
// different context, on which they are answered; and for each of two graders one with the answers from all contexts,
// in an order and under ids that do not tell which is whose. All names are made from content: what was done once is
// found again, and a further variant adds only its own sheets.
//
// plan.go chooses moments, text.go writes requests as text, book.go keeps the plan; sheets.go writes the sheets, and
// replies.go reads what comes back; check.go goes through the stages, and says what is missing and what that will take;
// ask.go sends sheets to a model, and conversation.go lets it search before it answers; search.go searches what was
// removed, for those who answer; report.go adds up.
package probe
