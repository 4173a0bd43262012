package isolate

type Refused struct {
	// Call is its name, or its number.
	Call string
	// Grant would allow it: network or processes; "" if none does.
	Grant string
}
