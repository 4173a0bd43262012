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
// seccomp_linux.go hold one mechanism each. calls_linux.go lists the system calls that a program has, and
// probe_linux.go says what works here.
//
// The kernel's own limit on processes (RLIMIT_NPROC) is not used: it counts those of the user on the whole machine,
// so that one plugin could be refused a thread because of another's, or of the user's browser. Instead a program can
// start threads and no processes at all. How many threads is bounded by its memory.
package isolate
