package tools

// Class is what a tool is for. The zero value means that the taxonomy does not know the tool.
type Class string

const (
	// ClassRead tools return the content of the files that they name.
	ClassRead Class = "read"
	// ClassWrite tools change the files that they name.
	ClassWrite Class = "write"
	// ClassSearch tools look for something in many files, or list them.
	ClassSearch Class = "search"
	// ClassShell tools run a command. What it reads and writes is unknown, unless a host says so in [FilesField].
	ClassShell Class = "shell"
	// ClassWeb tools fetch something from elsewhere.
	ClassWeb Class = "web"
	// ClassOther tools are known and touch no file: plans, questions, sub-agents.
	ClassOther Class = "other"
)

func (c Class) known() bool {
	switch c {
	case ClassRead, ClassWrite, ClassSearch, ClassShell, ClassWeb, ClassOther:
		return true
	}
	return false
}

// Directory is what a call does to the directory in which later commands begin. "" is not known for a tool that runs
// commands, and nothing for others.
type Directory string

const (
	// DirectoryKept: the commands run in one shell, so a "cd" holds for later calls.
	DirectoryKept Directory = "kept"
	// DirectoryOwn: each command runs in a shell of its own, so a "cd" holds for that call alone.
	DirectoryOwn Directory = "own"
	// DirectoryChanged: the call leads to another directory, which only its agent knows.
	DirectoryChanged Directory = "changed"
)

// Rule says what calls of some tools do. Its JSON form, which also travels to the strategies, has the same fields.
//
// Several fields hold locators, which are places in the parameters:
//
//	"file_path"      the member of that name
//	"paths[]"        every element of the array of that name
//	"files[].path"   that member of every element of the array of that name
//	"$"              the parameters themselves, if they are a string and no object
//
// Of several locators the first whose first member is present and not null decides, even if its value is of no use.
type Rule struct {
	// Names are the tools' names, at least one. "*" is any characters, "?" any one.
	Names []string `json:"names"`
	// IgnoreCase matches Names without regard to case.
	IgnoreCase bool `json:"ignoreCase,omitempty"`
	// Has lists parameters that a call must have (not null) for the rule to apply.
	Has []string `json:"has,omitempty"`
	// When maps parameters to the values of which a call must have one for the rule to apply. A boolean or a number is
	// compared as JSON writes it.
	When map[string][]string `json:"when,omitempty"`
	// Class is required.
	Class Class `json:"class"`
	// Paths locates the files that are read or written. Only for read and write.
	Paths []string `json:"paths,omitempty"`
	// Patch locates text in the "*** Begin Patch" form, whose headers name the written files. In a shell rule it
	// locates a command, which counts only if it is nothing but apply_patch with such a text. Only for write and shell.
	Patch []string `json:"patch,omitempty"`
	// Whole: a write leaves nothing of what the file held before. Only for write with Paths.
	Whole bool `json:"whole,omitempty"`
	// Range locates parameters of which any, present and not null, makes a read partial. Only for read.
	Range []string `json:"range,omitempty"`
	// Command locates the command line: a string, or an array of arguments. Only for shell.
	Command []string `json:"command,omitempty"`
	// Workdir locates the directory that relative paths start from, if it is not the workspace root.
	Workdir []string `json:"workdir,omitempty"`
	// Directory says what calls do to the directory of later ones. "": in a shell rule, that is not known, so nothing is
	// known of relative paths behind a "cd"; in another, nothing. Only for shell and other.
	Directory Directory `json:"directory,omitempty"`
	// Continues locates the name of a running command that the call asks about, as an earlier result gave it
	// ([Failure.Running]). Only for shell.
	Continues []string `json:"continues,omitempty"`
	// Failure tells by its result how a call ended, for agents that set no error. Nil: the error field, and the signs
	// that all agents share (see [Taxonomy.Judge]).
	Failure *Failure `json:"failure,omitempty"`
}

// Failure describes the results of calls that failed, or that did not end. Any one sign is enough. Case does not
// matter, nor does white space around a text.
//
// "*" in a sign of a line is any characters.
type Failure struct {
	// ExitLine lists beginnings of a line that a number follows. The first such line decides: failed unless 0. Only the
	// first lines of the result count, since what follows is output and may say anything.
	ExitLine []string `json:"exitLine,omitempty"`
	// LastExitLine is the same for the last lines, of which the last decides, for agents that put the code behind the
	// output.
	LastExitLine []string `json:"lastExitLine,omitempty"`
	// ExitField lists members of a result that is a JSON object, dots leading into objects ("metadata.exit_code"). A
	// number other than 0, or false, means failed.
	ExitField []string `json:"exitField,omitempty"`
	// ErrorField lists such members of which any value means failed, except null, false, 0, "", [] and {}.
	ErrorField []string `json:"errorField,omitempty"`
	// FieldValue maps such members to the texts that mean failed.
	FieldValue map[string][]string `json:"fieldValue,omitempty"`
	// Prefix lists beginnings of the result. One that ends in a letter or digit must end a word there. "*error:" is any
	// first word that ends like that ("PermissionError: …").
	Prefix []string `json:"prefix,omitempty"`
	// FirstLine lists what may be anywhere in the first line of the result. One that ends in a letter or digit must be
	// a whole word. An agent may print what it wrote in that line: be narrow.
	FirstLine []string `json:"firstLine,omitempty"`
	// LastLine lists beginnings of one of the last lines.
	LastLine []string `json:"lastLine,omitempty"`
	// Tag lists names of tags around the whole result: "tool_use_error" is "<tool_use_error>…</tool_use_error>".
	Tag []string `json:"tag,omitempty"`
	// Running lists beginnings of one of the first or last lines that say that the command has not ended. "{id}" is the
	// name of the command, by which later calls ask for it ([Rule.Continues]).
	Running []string `json:"running,omitempty"`
	// Done lists beginnings of one of the first lines by which a tool that writes files says that it did. If there are
	// any, a result with other words is in doubt ([OutcomeUnknown]), as that of a call which a person refused or
	// interrupted may be. A result without words is not, nor is a plain "ok", "done", "wrote …" or the like.
	Done []string `json:"done,omitempty"`
	// Silent lists beginnings of one of the last lines after which it is not known how a command ended: those of an agent
	// that never says it, and what programs print that may have failed.
	Silent []string `json:"silent,omitempty"`
}
