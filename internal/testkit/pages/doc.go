// Package pages runs the commands in Markdown pages and compares what they print with what the page shows.
//
// It is for the tests of the documentation. [Read] takes a page apart, [Page.Run] runs it as one shell session, so that
// a later block sees the files, variables and working directory that an earlier one left.
//
// # What is run
//
//	```sh        a script. It must end with exit status 0; its output is not compared.
//	```console   commands behind "$ ", each followed by what it prints on standard output and standard error. A line
//	             that ends in a backslash goes on in the next one.
//
// An HTML comment on the line before a block changes that:
//
//	<!-- not run: REASON -->   the block is left out. The reason is required.
//	<!-- file: NAME -->        the block, in any language, is written to the file NAME before the next command runs.
//	<!-- is: PATH -->          the block shows the file PATH of the repository, a Go file from its package clause on.
//
// # What is equal
//
// Runs of blanks are equal, since a column is as wide as its widest duration. Durations are equal, as text (12ms) and
// as JSON members whose names end in Ns, and so are hashes of 12 or more hexadecimal digits. "…" in a page stands for
// any text within a line; a line that is "…" alone stands for any number of lines.
package pages
