// Package isolate starts untrusted programs that can do little harm: no network, no files but their own and the
// system's, no processes but their own, no new privileges, bounded memory.
//
// It is for package plugins, and for the main function of a program that embeds thresh. Start at [Main], which makes
// the running program able to be a launcher, at [Spec], and at [Probe], which says what this machine can enforce.
//
// Restrictions have to be set in the process itself, after the fork and before the program begins. Go cannot run code
// there, so the host starts itself once more, as a launcher: that sets the limits on its own thread and then becomes
// the program. None of it needs root. A [Watcher] ends what a killed host leaves behind.
//
// main_linux.go takes the measures in order; namespaces_linux.go, landlock_linux.go and seccomp_linux.go hold one
// mechanism each; a [Guard] makes sockets where there are no namespaces.
//
// No kernel mechanism that works everywhere bounds what a program keeps in its run directory, its threads, or shared
// memory. The caller has to look at these from time to time; [MaxDisk], [MaxFiles] and [MaxThreads] are the bounds.
package isolate
