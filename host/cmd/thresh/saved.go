package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/door/watch"
	"github.com/thresh-dev/thresh/host/internal/table"
)

// What runs of 'thresh wrap' saved, whose sessions are in memory, is in a file of the user: a line for each run.

// savedRun is a line. Its form is stable.
type savedRun struct {
	// Day is that of the end of the run, by UTC.
	Day string `json:"day"`
	watch.Total
}

func savedFile(tokenFile string) string {
	return filepath.Join(filepath.Dir(tokenFile), "saved.jsonl")
}

// noteSaved adds a run. Lines are short enough that those of runs which end at the same time do not mix.
func noteSaved(tokenFile string, t proxy.Totals) error {
	if tokenFile == "" || t.Edited == 0 {
		return nil
	}
	line, err := json.Marshal(savedRun{time.Now().UTC().Format(time.DateOnly), watch.Total{
		Requests: int64(t.Edited), Whole: int64(t.Whole), Sent: int64(t.Sent), Saved: t.Saved}})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(tokenFile), 0o700)
	}
	if err != nil {
		return err
	}
	f, err := os.OpenFile(savedFile(tokenFile), os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("what was saved cannot be noted: %w", err)
	}
	line = append(line, '\n')
	last := []byte{'\n'}
	if at, err := f.Seek(-1, io.SeekEnd); err == nil {
		_, _ = f.ReadAt(last, at)
	}
	if last[0] != '\n' { // a line that was cut off must not take this one with it
		line = append([]byte{'\n'}, line...)
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Close())
}

// savedByMonth is what runs saved, and what the store has, by months such as 2026-11. It says which lines count nothing.
func (a *app) savedByMonth(ctx context.Context, c *config.Config) (map[string]watch.Total, error) {
	sums := map[string]watch.Total{}
	add := func(day string, t watch.Total) {
		month := day[:min(len(day), len("2026-11"))]
		sums[month] = sums[month].Plus(t)
	}
	set := c.Settings()
	file := savedFile(set.Serve.TokenFile)
	all, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	number, unread := 0, []int{}
	for line := range bytes.Lines(all) {
		number++
		var run savedRun
		err := json.Unmarshal(line, &run)
		if err == nil {
			_, err = time.Parse(time.DateOnly, run.Day)
		}
		switch {
		case len(bytes.TrimSpace(line)) == 0:
		case err != nil:
			unread = append(unread, number)
		default:
			add(run.Day, run.Total)
		}
	}
	switch n := len(unread); {
	case n > 1:
		fmt.Fprintf(a.err, "thresh: %s:%d and %s more cannot be read: they count nothing\n", displayPath(a.short(file)),
			unread[0], plural(n-1, "line"))
	case n > 0:
		fmt.Fprintf(a.err, "thresh: %s:%d cannot be read: it counts nothing\n", displayPath(a.short(file)), unread[0])
	}
	if path, file := strings.CutPrefix(set.Sessions.Store, "sqlite:"); file {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return sums, nil // asking must not make one
		}
	}
	kept, err := openStore(ctx, c)
	if err != nil || kept == nil {
		return sums, err
	}
	accounts, err := kept.Accounts(ctx, "")
	for _, one := range accounts {
		add(one.Day, watch.TotalOf(one.Used))
	}
	return sums, errors.Join(err, kept.Close())
}

func (a *app) printTotal(ctx context.Context, c *config.Config) error {
	sums, err := a.savedByMonth(ctx, c)
	if err != nil {
		return err
	}
	var sum watch.Total
	for _, one := range sums {
		sum = sum.Plus(one)
	}
	return a.show(struct {
		Total  watch.Total            `json:"total"`
		Months map[string]watch.Total `json:"months"`
	}{sum, sums}, func() error {
		if len(sums) == 0 {
			a.paragraph("nothing was saved yet: no run of 'thresh wrap' has ended, and the store has none", 0)
			return nil
		}
		months := slices.Sorted(maps.Keys(sums))
		a.paragraph(fmt.Sprintf("since %s: %s", months[0], totalText(sum)), 2)
		fmt.Fprintln(a.out)
		t := table.New(table.Column{Name: "month"}, table.Column{Name: "requests", Right: true},
			table.Column{Name: "sent", Head: "TOKENS\nSENT", Right: true},
			table.Column{Name: "saved", Head: "TOKENS\nSAVED", Right: true},
			table.Column{Name: "usd", Head: "USD\nSAVED", Right: true})
		for _, month := range months {
			m := sums[month]
			t.Row(month, table.Int(int(m.Requests)), table.Short(int(m.Sent)),
				table.Percent(int(m.Whole-m.Sent), int(m.Whole)), dollars(m.Saved))
		}
		return a.printSmallTable(t)
	})
}
