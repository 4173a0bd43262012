package access

import (
	"crypto/tls"
	"net/http"
	"testing"
)

// Each value of each header counts, with every method: browsers send no Origin with a GET.
func TestRequestsOfWebPages(t *testing.T) {
	const host = "127.0.0.1:7440"
	for name, tt := range map[string]struct {
		headers http.Header
		tls     bool
		want    bool
	}{
		"an agent":                      {nil, false, false},
		"Node's fetch":                  {http.Header{"Sec-Fetch-Mode": {"cors"}}, false, false},
		"the page /ui":                  {http.Header{"Origin": {"http://" + host}, "Sec-Fetch-Site": {"same-origin"}}, false, false},
		"an address that was entered":   {http.Header{"Sec-Fetch-Site": {"none"}}, false, false},
		"behind a proxy that has TLS":   {http.Header{"Origin": {"https://" + host}}, false, false},
		"an image of another page":      {http.Header{"Sec-Fetch-Site": {"cross-site"}}, false, true},
		"another port of this machine":  {http.Header{"Sec-Fetch-Site": {"same-site"}}, false, true},
		"a second site":                 {http.Header{"Sec-Fetch-Site": {"none", "cross-site"}}, false, true},
		"a site that is not known":      {http.Header{"Sec-Fetch-Site": {""}}, false, true},
		"another origin":                {http.Header{"Origin": {"http://evil.example"}}, false, true},
		"a second origin":               {http.Header{"Origin": {"http://" + host, "http://evil.example"}}, false, true},
		"two in one":                    {http.Header{"Origin": {"http://" + host + ", http://evil.example"}}, false, true},
		"an origin that is hidden":      {http.Header{"Origin": {"null"}}, false, true},
		"an empty origin":               {http.Header{"Origin": {""}}, false, true},
		"the same name without its TLS": {http.Header{"Origin": {"http://" + host}}, true, true},
	} {
		r := &http.Request{Method: http.MethodGet, Host: host, Header: tt.headers}
		if tt.tls {
			r.TLS = &tls.ConnectionState{}
		}
		if got := FromPage(r); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
