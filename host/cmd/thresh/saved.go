package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	f, err := os.OpenFile(savedFile(tokenFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("what was saved cannot be noted: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// savedByMonth is what runs saved, and what the store has, by months such as 2026-11.
func savedByMonth(ctx context.Context, c *config.Config) (map[string]watch.Total, error) {
	sums := map[string]watch.Total{}
	add := func(day string, t watch.Total) {
		month := day[:min(len(day), len("2026-11"))]
		sums[month] = sums[month].Plus(t)
	}
	set := c.Settings()
	all, err := os.ReadFile(savedFile(set.Serve.TokenFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(all)); lines.Scan(); {
		var run savedRun
		if json.Unmarshal(lines.Bytes(), &run) == nil { // a line that was cut off counts nothing
			add(run.Day, run.Total)
		}
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
	sums, err := savedByMonth(ctx, c)
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
