// Faulty is a strategy plugin that misbehaves in the way that its file name says: thresh-strategy-exits-in-optimize
// exits in the middle of an Optimize. Build it once, and link to it under as many names as there are faults to be
// tried. Each stands in a case of a switch here; under any other name it behaves. A name that ends in -by-threshold is of
// a strategy without an Optimize.
//
// It speaks the protocol by itself, without the SDK, which would not let it do most of this.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/thresh-dev/thresh/internal/wire"
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
)

func main() {
	name, suffix := strings.TrimPrefix(filepath.Base(os.Args[0]), "thresh-strategy-"), ""
	if fault, ok := strings.CutSuffix(name, onlyThreshold); ok {
		name, suffix = fault, onlyThreshold
	}
	beforeHandshake(name)
	handshake := wire.Handshake()
	switch name {
	case "other-version":
		handshake.ProtocolVersion++
	case "other-cookie":
		handshake.MagicCookieValue = "that of another program"
	}
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: handshake,
		Plugins:         plugin.PluginSet{wire.PluginName: &strategyPlugin{name: name, suffix: suffix}},
		GRPCServer:      plugin.DefaultGRPCServer,
		Logger:          hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: os.Stderr, JSONFormat: true}),
	})
	if strings.HasPrefix(name, "hangs-up-in-") {
		time.Sleep(time.Hour) // without the connection, but alive
	}
}

// noise is what does not belong on standard output: text, what looks a little like a handshake, and a megabyte
// without a line end.
var noise = "loading tables\n1|1|nonsense\n|||||\n" + strings.Repeat("x", 1<<20) + "\n"

// beforeHandshake is what goes wrong, or may, before the plugin says where it listens.
func beforeHandshake(name string) {
	switch name {
	case "panics-at-start":
		panic("no good reason")
	case "hangs-at-start":
		time.Sleep(time.Hour)
	case "exits-at-start":
		fmt.Fprintln(os.Stderr, "cannot find my licence")
		os.Exit(3)
	case "starts-another":
		if err := exec.Command("/bin/true").Run(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(4)
		}
	case "noisy":
		fmt.Print(noise)
	case "chatty":
		fmt.Println("loading tables | please wait")
		fmt.Println("1|1|nonsense")
	case "deaf":
		l, err := net.Listen("unix", filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), "deaf"))
		if err != nil {
			panic(err)
		}
		fmt.Printf("1|1|unix|%s|grpc|\n", l.Addr())
		time.Sleep(time.Hour)
	case "elsewhere":
		fmt.Println("1|1|unix|/tmp/somebody-elses.sock|grpc|")
		time.Sleep(time.Hour)
	}
}

const onlyThreshold = "-by-threshold"

type strategyPlugin struct {
	plugin.NetRPCUnsupportedPlugin
	name, suffix string
}

func (p *strategyPlugin) GRPCServer(broker *plugin.GRPCBroker, s *grpc.Server) error {
	if p.name != "other-service" {
		threshv1.RegisterStrategyServiceServer(s, &strategy{name: p.name, suffix: p.suffix, broker: broker, server: s})
	}
	return nil
}

func (*strategyPlugin) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, fmt.Errorf("this is the plugin's side")
}
