package isolate

// none returns a failed check for every measure, with one reason.
func none(why string) []Check {
	var checks []Check
	for _, m := range measures {
		checks = append(checks, Check{m, false, why})
	}
	return checks
}
