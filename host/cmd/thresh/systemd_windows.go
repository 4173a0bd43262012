package main

import "net"

// There is no systemd: no socket is inherited, and nobody is told of a change of state.

func inheritedListener(func(string) string) (net.Listener, error) { return nil, nil }

func (place) notify(string) {}

func monotonic() string { return "" }
