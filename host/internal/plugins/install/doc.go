// Package install puts plugins into the plugin directory: fetched, checked, described under isolation, put in place as a
// whole, and locked.
//
// It is for the commands of 'thresh plugins'. Start at [Installer.Install]. A release is a set of files with usual
// names: archives, the file of their checksums, its signature and the publisher's key. It is a directory of this
// machine, of a web server, of a GitHub release, or of a bundle, and is read the same way wherever it is. [Lacking] says
// how the plugin directories differ from the setting plugins.required.
//
// Nothing from a release is trusted before its checksum, and where there is a key its signature, is right. No program
// runs before that, and no name from an archive is ever a path.
package install
