package network

// descriptorLimit is false: memory alone bounds how many handles a process has, and their numbers tell nothing.
func descriptorLimit() (most uint64, ok bool) { return 0, false }
