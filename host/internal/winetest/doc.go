// Package winetest is a test: thresh.exe under Wine. 'make test-windows' runs it.
//
// Wine 8 is no Windows. It puts programs into job objects and ends them with the last handle, but keeps no limit of
// memory or processes; it has no console without a terminal, so that nothing is interrupted; its links, owners and access
// lists are Unix's; and it lacks the call by which os.RemoveAll deletes, so that temporary directories stay and 'thresh
// run' ends with status 1.
package winetest
