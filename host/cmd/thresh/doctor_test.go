package main_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
)

// What 'doctor --quick' refuses stops a service, too.
func TestAWrongConfigurationDoesNotStart(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file("torn.db", "SQLite format 3\x00 and nothing else of one")
	p.file("cert.pem", "no certificate")
	const profile = "profile: main\nprofiles:\n  main:\n    provider: {kind: anthropic, model: m, keyEnv: NOT_SET}\n"
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"no YAML":             {"model: [", []string{"c.yaml:1"}},
		"an unknown setting":  {"modle:\n  name: x\n", []string{"c.yaml:1", "modle", "did you mean model?"}},
		"a wrong value":       {"log:\n  level: loud\n", []string{"c.yaml:2", "log.level", "loud", "debug"}},
		"out of bounds":       {"compression:\n  threshold: 1.5\n", []string{"c.yaml:2", "at most 1"}},
		"an unknown strategy": {"compression:\n  strategy: nope\n", []string{"c.yaml:2", `"nope"`, "high-density"}},
		"a setting of a strategy's own": {"strategies:\n  distill:\n    foo: 1\n",
			[]string{"c.yaml:3", "strategies.distill.foo: is not a setting of distill"}},
		"settings of no strategy": {"strategies:\n  distil:\n    recency: 1\n",
			[]string{"strategies.distil.recency", "c.yaml:3", `did you mean "distill"?`}},
		"an address": {"proxy:\n  listen: \"7441\"\n", []string{"c.yaml:2", "proxy.listen", "missing port"}},
		"an unknown strategy in a profile": {"profiles:\n  small:\n    compression:\n      strategy: nope\n",
			[]string{"c.yaml:4", "profiles.small.compression.strategy", `"nope"`}},
		"no key":         {profile, []string{"c.yaml:1", "NOT_SET is not set", "profiles.main.provider.keyEnv"}},
		"no price list":  {"model:\n  priceList: nope\n", []string{"c.yaml:2", "model.priceList", "nope"}},
		"no price file":  {"model:\n  priceFile: nope.yaml\n", []string{"c.yaml:2", "model.priceFile", "nope.yaml", "no such file"}},
		"no store":       {"sessions:\n  store: sqlite:torn.db\n", []string{"torn.db"}},
		"no certificate": {"serve:\n  tls: {cert: cert.pem, key: cert.pem}\n", []string{"serve.tls.cert"}},
	} {
		t.Run(name, func(t *testing.T) {
			p.file("c.yaml", c.text)
			p.run("doctor", "--quick", "--config", "c.yaml").failed(t, 1, c.want...)
			p.run("serve", "--config", "c.yaml", "--set", "serve.listen=127.0.0.1:0").failed(t, 1, c.want...)
		})
	}
	p.file("c.yaml", "model:\n  priceList: nope\nserve:\n  tls: {cert: cert.pem, key: cert.pem}\n"+
		"sessions:\n  store: sqlite:torn.db\n")
	p.run("doctor", "--quick", "--config", "c.yaml").failed(t, 1, "c.yaml:2", "c.yaml:4", "c.yaml:6")
	p = newPlaceHere(t)
	p.file("c.yaml", "compression:\n  strategy: high-density\n"+profile)
	cmd := p.command("doctor", "--quick", "--config", "c.yaml")
	cmd.Env = append(cmd.Env, "NOT_SET=a-key")
	if r := p.finish(cmd).done(t); r.stdout+r.stderr != "" {
		t.Errorf("of a good one it prints %s%s", r.stdout, r.stderr)
	}
	if _, err := os.Stat(p.path("home", ".local")); !os.IsNotExist(err) {
		t.Errorf("it left something behind: %v", err)
	}
}

func TestAWrongConfigurationIsNotReloaded(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.file("s.yaml", "log: {format: json}\n")
	s := p.serveNetwork("--config", "s.yaml", "--set", "serve.listen=127.0.0.1:0")
	p.file("s.yaml", "log: {format: json}\ncompression:\n  strategy: nope\n")
	s.signal(syscall.SIGHUP)
	s.says("the configuration was not reloaded")
	if r, err := http.Get(s.address + "/readyz"); err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("with the configuration before it: %v, %v", r, err)
	}
	log := s.end(syscall.SIGTERM)
	for line := range strings.Lines(log) {
		if !json.Valid([]byte(line)) {
			t.Errorf("with log.format json: %s", line)
		}
	}
	if !strings.Contains(log, "s.yaml:3") || !strings.Contains(log, `"serving at `) {
		t.Errorf("the log:\n%s", log)
	}
}

// Nothing but a restart would show that the key file is gone, and then it would be too late.
func TestAServiceWithoutItsKeyFileIsNotReady(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	key := p.path("work", p.file("key", "secret\n"))
	p.file("s.yaml", "compression: {profile: a}\nprofiles: {a: {provider: {kind: anthropic, model: m, keyFile: "+key+"}}}\n")
	s := p.serveNetwork("--config", "s.yaml", "--set", "serve.listen=127.0.0.1:0")
	if status, text := fetch(t, s.address+"/readyz", "", ""); status != http.StatusOK {
		t.Fatalf("with the file: %d, %s", status, text)
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	if !eventually(patience, func() bool {
		status, _ := fetch(t, s.address+"/readyz", "", "")
		return status == http.StatusServiceUnavailable
	}) {
		t.Error("without the file it is ready")
	}
	if _, text := fetch(t, s.address+"/readyz", "", ""); !strings.Contains(text, "the configuration cannot be used") ||
		strings.Contains(text, key) {
		t.Errorf("it says %q", text)
	}
	s.signal(syscall.SIGHUP)
	s.says("the configuration was not reloaded")
	p.file("key", "secret\n")
	if !eventually(patience, func() bool { status, _ := fetch(t, s.address+"/readyz", "", ""); return status == 200 }) {
		t.Error("with the file again it is not ready")
	}
	if log := s.end(syscall.SIGTERM); !strings.Contains(log, "key cannot be used") && !strings.Contains(log, key) {
		t.Errorf("the log does not name the file:\n%s", log)
	}
}
