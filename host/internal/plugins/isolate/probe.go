package isolate

// none is the answer where nothing works, for one reason.
func none(why string) []Check {
	var checks []Check
	for _, m := range []Measure{Privileges, Files, Network, Processes, Signals, Memory, Limits} {
		checks = append(checks, Check{m, false, why})
	}
	return checks
}
