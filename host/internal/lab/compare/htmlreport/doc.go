// Package htmlreport writes a comparison as one HTML file that needs nothing else: no network, no script, no font.
//
// It is for the command line and for programs that compare strategies themselves. Start at [Write]. The template and
// the styles stand beside the code; a chart is made in chart.go and written by the template like everything else, so
// that whatever a session calls itself, its tools and its files is escaped in one place.
package htmlreport
