package verify

import (
	"encoding/xml"
	"fmt"
	"io"
)

// The part of JUnit's XML format that CI systems read. There is no schema that all of them follow; this subset is
// understood by Jenkins, GitLab and the common GitHub actions.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name      string        `xml:"name,attr"`
		ClassName string        `xml:"classname,attr"`
		Time      string        `xml:"time,attr"`
		Failure   *junitMessage `xml:"failure,omitempty"`
		Skipped   *junitMessage `xml:"skipped,omitempty"`
		Output    string        `xml:"system-out,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes the report as JUnit XML, one test case per check. Durations are in seconds, as the format
// demands. The message of a failure repeats the requirement, since CI systems show it without the rest of the report.
func (r *Report) WriteJUnit(out io.Writer) error {
	suite := junitSuite{
		Name: "thresh plugins verify " + r.Name, Tests: len(r.Results),
		Failures: r.Count(Fail), Skipped: r.Count(Skip), Time: fmt.Sprintf("%.3f", r.Duration.Seconds()),
	}
	for _, result := range r.Results {
		c := junitCase{Name: result.Check, ClassName: r.Name, Time: fmt.Sprintf("%.3f", result.Duration.Seconds())}
		switch result.Outcome {
		case Fail:
			c.Failure = &junitMessage{
				Message: result.Detail, Text: "The check demands: " + result.Meaning + "\n" + r.Binary,
			}
		case Skip:
			c.Skipped = &junitMessage{Message: result.Detail}
		default:
			// Shown by CI systems on demand; failures are shown at once.
			c.Output = result.Detail
		}
		suite.Cases = append(suite.Cases, c)
	}
	if _, err := io.WriteString(out, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(out)
	enc.Indent("", "  ")
	if err := enc.Encode(junitSuites{Suites: []junitSuite{suite}}); err != nil {
		return err
	}
	_, err := io.WriteString(out, "\n")
	return err
}
