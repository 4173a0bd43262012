// Package htmlreport writes a comparison as one HTML file that needs nothing else: no network, no script, no font.
//
// It is for the command line and for programs that compare strategies themselves. Start at [Write]. The template
// (report.tmpl) and the styles (style.css) are embedded. page.go, tables.go, sessions.go and chart.go prepare what
// the template prints, as plain text and numbers. The template alone makes HTML of it, so that everything that comes
// from a session, such as the names of tools and files, is escaped in one place. thin.go bounds the number of points
// of a chart.
package htmlreport
