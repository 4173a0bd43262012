// Package htmlreport writes a comparison as one HTML file that needs nothing else: no network, no script, no font.
//
// Start at [Write]. The page gives the answer, three figures, a chart and the totals of all variants; the rest is in
// sections that are closed until a reader opens them. page.go, tables.go and chart.go prepare text and numbers; the
// template (report.tmpl) makes HTML of them, so everything that comes from a session, such as the names of tools
// and files, is escaped in one place.
package htmlreport
