//go:build unix

package postgres

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Cluster is a running PostgreSQL. It listens on a socket in a directory only. Its methods fail the test; none returns
// an error.
type Cluster struct {
	tb   testing.TB
	bin  string
	dir  string
	as   *syscall.Credential // whom it runs as, nil for this user: PostgreSQL refuses root
	stop io.Closer           // ends the process
	// sh, which runs the database and ends it with the test.
	cmd    *exec.Cmd
	shared bool // it ends with the process, not with the test

	settings []string
	env      []string // in addition to the test's
}

// Start makes and starts a cluster with settings such as fsync=on. By default it does not wait for the disk: what it
// has committed survives its own end, but not the machine's. All processes of the cluster end with the test's process,
// however that ends.
func Start(tb testing.TB, settings ...string) *Cluster {
	tb.Helper()
	return start(&Cluster{tb: tb, bin: programs(tb), settings: settings})
}

var all struct {
	sync.Mutex
	cluster *Cluster
}

// Shared is a cluster for all tests of this process that need no more than a database each: to start one takes seconds.
// It ends with the process, and its directory goes.
func Shared(tb testing.TB) *Cluster {
	tb.Helper()
	all.Lock()
	defer all.Unlock()
	if all.cluster == nil {
		all.cluster = start(&Cluster{tb: tb, bin: programs(tb), shared: true})
	}
	c := *all.cluster
	c.tb = tb
	return &c
}

// StartShifted is Start for a database whose clock is ahead of this machine's by a time, below 0 behind it. It needs
// the library of the Debian package faketime; where there is none, the test is skipped.
func StartShifted(tb testing.TB, by time.Duration) *Cluster {
	tb.Helper()
	bin := programs(tb)
	found, _ := filepath.Glob("/usr/lib/*/faketime/libfaketime.so.1")
	if len(found) == 0 {
		const missing = "faketime is not installed (apt-get install faketime): clocks that differ are not tested"
		fmt.Fprintln(os.Stderr, "NOTE: "+missing)
		tb.Skip(missing)
	}
	// In seconds, as the library wants it; the sign is part of the format.
	// Monotonic time stays, as it does where a clock is wrong.
	return start(&Cluster{tb: tb, bin: bin, env: []string{
		"LD_PRELOAD=" + found[0], fmt.Sprintf("FAKETIME=%+d", int(by.Seconds())), "FAKETIME_DONT_FAKE_MONOTONIC=1",
	}})
}

// start makes the directory of a cluster and runs it.
func start(c *Cluster) *Cluster {
	tb := c.tb
	tb.Helper()
	var err error
	if c.dir, err = os.MkdirTemp("", "thresh-pg"); err != nil { // the path of a socket must be short
		tb.Fatal(err)
	}
	if !c.shared {
		tb.Cleanup(func() { os.RemoveAll(c.dir) })
	}
	if os.Geteuid() == 0 {
		c.becomeAnother()
	}
	// No passwords: the socket is in a directory that only this user can enter. The locale decides the order of texts,
	// and must not be the machine's.
	initdb := c.command("initdb", "-D", c.data(), "-U", "thresh", "-A", "trust", "-E", "UTF8", "--locale=C",
		"--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		tb.Fatalf("initdb: %v\n%s", err, out)
	}
	if !c.shared {
		tb.Cleanup(c.Stop)
	}
	c.Run()
	return c
}

// programs finds the directory with the newest PostgreSQL.
func programs(tb testing.TB) string {
	// Not checked here: the error of starting a program that is not there names it.
	if dir := os.Getenv("POSTGRES_BIN"); dir != "" {
		return dir
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	if len(found) > 0 {
		return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) }))
	}
	const missing = "PostgreSQL is not installed (apt-get install postgresql): what needs it is not tested"
	if os.Getenv("POSTGRES_TESTS") == "require" {
		tb.Fatal(missing)
	}
	fmt.Fprintln(os.Stderr, "NOTE: "+missing)
	tb.Skip(missing)
	return ""
}

// becomeAnother gives the directory to a user without rights. It is needed in containers, where tests run as root.
func (c *Cluster) becomeAnother() {
	c.tb.Helper()
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		c.tb.Fatal(err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(c.dir, uid, gid); err != nil {
		c.tb.Fatal(err)
	}
	c.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// data is the directory of the database itself; the socket and the log are next to it.
func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

// The directory must be one that the cluster's user can read; that of the test need not be.
func (c *Cluster) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.bin, program), args...)
	cmd.Dir = c.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.as}
	return cmd
}

// Run starts the cluster again after Stop or Kill, and returns when it answers.
func (c *Cluster) Run() {
	c.tb.Helper()
	// The shell ends the database when its input ends, which it does with the test's process, however that ends.
	script := `"$0" "$@" </dev/null >>log 2>&1 & read _; kill -QUIT $!; wait $!`
	if c.shared {
		script += `; rm -rf "$PWD"`
	}
	args := []string{"-c", script, filepath.Join(c.bin, "postgres"), "-D", c.data(), "-k", c.dir}
	// No TCP port, so that any number of tests run at the same time. The later of two equal settings holds.
	defaults := []string{"listen_addresses=", "shared_buffers=64MB", "max_connections=200", "fsync=off"}
	for _, setting := range slices.Concat(defaults, c.settings) {
		// The setting -k puts the socket where clients of this cluster alone look for it.
		args = append(args, "-c", setting)
	}
	c.cmd = exec.Command("/bin/sh", args...)
	c.cmd.Dir = c.dir
	c.cmd.Env = append(os.Environ(), c.env...)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.as, Setpgid: true}
	var err error
	if c.stop, err = c.cmd.StdinPipe(); err != nil {
		c.tb.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		c.tb.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, c.url("postgres"))
		if err == nil {
			_ = conn.Close(ctx)
			return
		}
		select {
		case <-ctx.Done():
			log, _ := os.ReadFile(filepath.Join(c.dir, "log"))
			c.tb.Fatalf("PostgreSQL does not answer: %v\n%s", err, log)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Stop ends the cluster at once, as a loss of power does: what was not committed is lost, connections break.
func (c *Cluster) Stop() {
	if c.stop == nil {
		return
	}
	_ = c.stop.Close()
	_ = c.cmd.Wait()
	c.stop = nil
}

// Freeze stops all processes of the cluster where they are, until thaw is called: it takes connections and says nothing.
func (c *Cluster) Freeze() (thaw func()) {
	c.tb.Helper()
	first, err := os.ReadFile(filepath.Join(c.data(), "postmaster.pid"))
	if err != nil {
		c.tb.Fatal(err)
	}
	line, _, _ := strings.Cut(string(first), "\n")
	children, err := os.ReadFile(fmt.Sprintf("/proc/%s/task/%[1]s/children", line))
	if err != nil {
		c.tb.Skip("SKIPPED: ", err)
	}
	signal := func(s syscall.Signal) {
		for _, text := range append(strings.Fields(string(children)), line) {
			if pid, err := strconv.Atoi(text); err == nil {
				_ = syscall.Kill(pid, s)
			}
		}
	}
	signal(syscall.SIGSTOP)
	thaw = sync.OnceFunc(func() { signal(syscall.SIGCONT) })
	c.tb.Cleanup(thaw)
	return thaw
}

// Restart stops the cluster and runs it again.
func (c *Cluster) Restart() {
	c.tb.Helper()
	c.Stop()
	c.Run()
}

// places makes the names of databases unique.
var places atomic.Int32

// Database makes a place without tables, and returns its URL. It is a schema: a database would take half a second.
func (c *Cluster) Database() string {
	c.tb.Helper()
	name := fmt.Sprint("place", places.Add(1))
	c.Exec(c.url("postgres"), "CREATE SCHEMA "+name)
	return c.url("postgres") + "&search_path=" + name
}

// Exec runs a statement in a database.
func (c *Cluster) Exec(url, statement string) {
	c.tb.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		c.tb.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, statement); err != nil {
		c.tb.Fatal(err)
	}
}

// Socket is the path of the socket that the cluster listens on, for a proxy in between.
func (c *Cluster) Socket() string { return filepath.Join(c.dir, ".s.PGSQL.5432") }

func (c *Cluster) url(database string) string {
	return "postgres://thresh@/" + database + "?host=" + c.dir
}
