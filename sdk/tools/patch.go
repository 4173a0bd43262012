package tools

import "strings"

// The headers of a patch. Everything else in it begins with a space, "+", "-" or "@@".
const (
	beginPatch = "*** Begin Patch"
	endPatch   = "*** End Patch"
	addFile    = "*** Add File:"
	updateFile = "*** Update File:"
	deleteFile = "*** Delete File:"
	moveTo     = "*** Move to:"
)

// patchWrites returns the files that a patch changes, in its order. Text around the patch is ignored.
func patchWrites(s string) []Write {
	var writes []Write
	inside := false
	for line := range strings.Lines(s) {
		if !inside {
			inside = strings.HasPrefix(line, beginPatch)
			continue
		}
		if !strings.HasPrefix(line, "***") {
			continue
		}
		if strings.HasPrefix(line, endPatch) {
			break
		}
		if name, ok := header(line, addFile); ok {
			writes = append(writes, Write{Path: name, Whole: true})
		} else if name, ok := header(line, deleteFile); ok {
			writes = append(writes, Write{Path: name, Whole: true, Deletes: true})
		} else if name, ok := header(line, updateFile); ok {
			writes = append(writes, Write{Path: name})
		} else if name, ok := header(line, moveTo); ok {
			// A moved file's content is in no call, so neither side is whole. The move belongs to the update before it,
			// whose file is gone afterwards.
			if n := len(writes); n > 0 && !writes[n-1].Whole {
				writes[n-1].Deletes = true
			}
			writes = append(writes, Write{Path: name})
		}
	}
	return writes
}

func header(line, prefix string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(line, prefix)
	name = strings.TrimSpace(rest)
	return name, ok && name != ""
}
