package isolate

// Refused is a system call that a program made and was not allowed.
type Refused struct {
	// Call is its name, or its number.
	Call string
	// Grant is the grant that would allow it: network or processes. "" if none does.
	Grant string
}
