package main

import (
	"crypto/tls"
	"fmt"
	"net"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/network"
	"github.com/thresh-dev/thresh/host/internal/window"
)

// Who may connect where, and how both sides prove who they are. 'doctor --quick' asks the same as a start and a reload.

// admission is that of one address. A Unix socket needs nothing: its permissions let only the user in. An address that
// other machines reach needs a certificate or --insecure, and has no local token.
type admission struct {
	key, shown string // the setting with the address, and the address
	local      bool
	set        config.Serve
	insecure   bool

	certificate *network.Certificate // nil without TLS
}

func admissionOf(addr net.Addr, key string, set config.Serve, insecure bool) *admission {
	local, unix := network.Local(addr)
	if unix {
		set.TLS, set.TokenFile = config.ServeTLS{}, ""
	}
	return &admission{key: key, shown: addr.String(), local: local, set: set, insecure: insecure}
}

// read reads the files. The token is "" if there is none.
func (d *admission) read() (certificate *tls.Certificate, localToken string, err error) {
	if set := d.set.TLS; set.Cert != "" || set.Key != "" {
		pair, err := tls.LoadX509KeyPair(set.Cert, set.Key)
		if err != nil {
			return nil, "", fmt.Errorf("serve.tls.cert and serve.tls.key: %w", err)
		}
		certificate = &pair
	}
	switch {
	// Anyone on the machine reaches a loopback address, so the user's own token is needed there.
	case d.local && d.set.TokenFile != "":
		localToken, err = access.LocalToken(d.set.TokenFile)
	case !d.local && certificate == nil && !d.insecure:
		err = fmt.Errorf("%s: %s can be reached from other machines: set serve.tls.cert and serve.tls.key, or say "+
			"--insecure", d.key, d.shown)
	}
	return certificate, localToken, err
}

// admission reads what proves who is who at a listener.
func (a *app) admission(l net.Listener, key string, set config.Serve, insecure bool) (*admission, string, error) {
	d := admissionOf(l.Addr(), key, set, insecure)
	certificate, token, err := d.read()
	if err != nil {
		return nil, "", err
	}
	if certificate != nil {
		d.certificate = &network.Certificate{}
		d.certificate.Store(certificate)
	} else if !d.local {
		a.say(hclog.Warn, fmt.Sprintf("--insecure: conversations and tokens are unencrypted for everyone on the way to %s",
			l.Addr()))
	}
	return d, token, nil
}

// checkListen finds what keeps the addresses from being served, and can be known before they are opened.
func checkListen(c *config.Config, insecure bool) error {
	set := c.Settings()
	service, err := network.ParseAddress(set.Serve.Listen)
	if err != nil {
		return window.At(c, "serve.listen", err)
	}
	at := []*admission{admissionOf(service, "serve.listen", set.Serve, insecure)}
	if set.Proxy.Listen != "" {
		own, err := net.ResolveTCPAddr("tcp", set.Proxy.Listen)
		if err != nil {
			return window.At(c, "proxy.listen", fmt.Errorf("proxy.listen: %w", err))
		}
		if other, ok := service.(*net.TCPAddr); ok && own.Port != 0 && own.Port == other.Port &&
			(own.IP.Equal(other.IP) || anyIP(own.IP) || anyIP(other.IP)) {
			return window.At(c, "proxy.listen",
				fmt.Errorf("proxy.listen: %s is the address of serve.listen: choose another port", set.Proxy.Listen))
		}
		at = append(at, admissionOf(own, "proxy.listen", set.Serve, insecure))
	}
	for _, d := range at {
		if !exists(d.set.TokenFile) {
			d.set.TokenFile = "" // the start makes it
		}
		if _, _, err := d.read(); err != nil {
			key := d.key
			if tls := d.set.TLS; tls.Cert != "" || tls.Key != "" {
				key = "serve.tls.cert"
			}
			return window.At(c, key, err)
		}
	}
	return nil
}

func anyIP(ip net.IP) bool { return ip == nil || ip.IsUnspecified() }
