// Package isolate starts programs that are not trusted so that they can do little harm: no network, no files but
// their own and the system's, no processes but their own, no new privileges, bounded memory.
//
// It is for package plugins, and for the main function of a program that embeds thresh. Start at [Main], which makes
// the running program able to be a launcher, at [Spec], which says what a launcher is to do, and at [Probe], which says
// what this machine can enforce.
//
// What a process may not do has to be set in the process itself, after the fork and before the program begins. Go
// cannot run code there, so the host starts itself once more, as a launcher: that sets the limits on its own thread
// and then becomes the program. None of it needs root. A [Watcher] ends what a killed host leaves behind.
//
// How the files relate: main_linux.go takes the measures in order. namespaces_linux.go, landlock_linux.go and
// seccomp_linux.go hold one mechanism each. calls_linux.go lists the system calls that a program has; a [Guard] answers
// those that the host is asked about. launcher_linux.go is what a host and a launcher say to each other, and
// probe_linux.go says what works here.
//
// Some of what a program takes has no kernel mechanism that works everywhere: how much it keeps in its run directory,
// how many threads it has, shared memory. The caller is to look at these from time to time; [MaxDisk], [MaxFiles] and
// [MaxThreads] are the bounds.
package isolate
