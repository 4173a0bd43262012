package transcript

// uncut returns a document that was cut off, up to the last whole element of its list: the document itself, or a list
// in one of its fields. What followed the list is lost. It returns nil if no element is whole. The text must be JSON as
// far as it goes.
func uncut(data []byte) []byte {
	var (
		open []byte
		text bool
		end  int    // behind the last whole element; 0: there is none
		list string // what closes the document there
	)
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case text && c == '\\':
			i++ // an escaped character ends no string
		case c == '"':
			text = !text
		case text:
		case c == '{' || c == '[':
			open = append(open, c)
		case c == '}' || c == ']':
			open = open[:max(len(open)-1, 0)]
			switch string(open) {
			case "[":
				end, list = i+1, "]"
			case "{[":
				end, list = i+1, "]}"
			}
		}
	}
	if end == 0 {
		return nil
	}
	return append(data[:end:end], list...)
}
