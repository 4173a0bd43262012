package tools

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// usualWorkdirs are the parameters in which agents name the directory of a command, for shell rules that name none:
// agents share names of tools, and an unnoticed directory would make a path another file's.
var usualWorkdirs = []locator{
	{name: "workdir"}, {name: "cwd"}, {name: "dir_path"}, {name: "directory"}, {name: "working_directory"},
	{name: "workingDirectory"}, {name: "working_dir"},
}

// compile checks a rule and prepares it for use. It shares nothing with r that the caller could change. It continues
// after an error, of which the first is kept.
func compile(r *Rule) (*rule, *RuleError) {
	c := compiler{src: r}
	out := &rule{
		class:   r.Class,
		has:     slices.Clone(r.Has),
		when:    make(map[string][]string, len(r.When)),
		whole:   r.Whole,
		paths:   c.locators("paths", r.Paths, ClassRead, ClassWrite),
		patch:   c.locators("patch", r.Patch, ClassWrite, ClassShell),
		ranges:  c.locators("range", r.Range, ClassRead),
		command: c.locators("command", r.Command, ClassShell),
		workdir: c.locators("workdir", r.Workdir, ClassRead, ClassWrite, ClassShell),

		continues: c.locators("continues", r.Continues, ClassShell),
	}
	out.directory = r.Directory
	switch r.Directory {
	case "":
	case DirectoryKept, DirectoryOwn, DirectoryChanged:
		if r.Class != ClassShell && r.Class != ClassOther {
			c.fail("directory", fmt.Errorf("it is not for a rule of class %q", string(r.Class)))
		}
	default:
		c.fail("directory", fmt.Errorf("%q is none of kept, own and changed", string(r.Directory)))
	}
	if r.Class == ClassShell && len(r.Workdir) == 0 {
		out.workdir = usualWorkdirs
	}
	// A rule without a name would apply to no tool, which is never meant.
	if len(r.Names) == 0 || slices.Contains(r.Names, "") {
		c.fail("names", errors.New("a rule needs at least one name, and none may be empty"))
	}
	if !r.Class.known() {
		c.fail(
			"class",
			fmt.Errorf("%q is no class; it may be read, write, search, shell, web or other", string(r.Class)),
		)
	}
	if r.Whole && (r.Class != ClassWrite || len(r.Paths) == 0) {
		c.fail("whole", errors.New("it is only for a write rule with paths"))
	}
	if slices.Contains(r.Has, "") {
		c.fail("has", errors.New("a parameter's name must not be empty"))
	}
	// Sorted: of several errors always the same one is reported.
	for _, name := range slices.Sorted(maps.Keys(r.When)) {
		if name == "" || len(r.When[name]) == 0 {
			c.fail("when", fmt.Errorf("parameter %q needs a name and at least one value", name))
		}
		out.when[name] = slices.Clone(r.When[name])
	}
	// An empty text would be a sign in every result.
	if f := r.Failure; f != nil {
		out.failure = newSigns(f)
		if all := f.all(); len(all) == 0 || slices.Contains(all, "") {
			c.fail("failure", errors.New("it needs at least one sign, and none may be empty"))
		}
	}
	return out, c.err
}

type compiler struct {
	src *Rule
	err *RuleError
}

func (c *compiler) fail(field string, err error) {
	if c.err != nil {
		return
	}
	c.err = &RuleError{Field: field, Err: err}
	if len(c.src.Names) > 0 {
		c.err.Name = c.src.Names[0]
	}
}

func (c *compiler) locators(field string, texts []string, classes ...Class) []locator {
	// Refused rather than ignored: a path in a shell rule shows that its author expects something else.
	if len(texts) > 0 && !slices.Contains(classes, c.src.Class) {
		c.fail(field, fmt.Errorf("it is not for a rule of class %q", string(c.src.Class)))
	}
	var ls []locator
	for i, s := range texts {
		l, err := parseLocator(s)
		if err != nil {
			c.fail(fmt.Sprintf("%s[%d]", field, i), fmt.Errorf("%q: %w", s, err))
			continue
		}
		ls = append(ls, l)
	}
	return ls
}
