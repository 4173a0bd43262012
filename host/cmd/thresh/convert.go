package main

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
)

// writable are the formats of --to, by their short names; files hold the full ones.
const writable = "native, openai, responses or anthropic"

// convertCommand converts sessions between formats, across the recorder's compactions. Unlike other commands it reports
// every note, including routine ones: conversion is where silent loss would hurt.
func convertCommand(a *app) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "convert --to FORMAT FILE",
		Short: "Convert a session from any known format",
		Long: `Reads a session in any known format, which is detected from the content, and prints it in another.
What was not understood, or what the other format cannot hold, is reported on standard error with
its line or entry.

The system prompt, or instructions, is kept apart from the history, as "system" in the native form,
and is written where the other format has it.`,
		Example: `  thresh sessions convert --to native ~/.claude/projects/…/session.jsonl > session.json
  thresh sessions convert --to openai session.json`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.checkFrom(cmd); err != nil {
				return err
			}
			if to == "" {
				return usage(cmd, fmt.Errorf("--to is required: %s", writable))
			}
			format, err := transcript.ParseFormat(to)
			if err != nil || !slices.ContainsFunc(transcript.Formats(), func(f transcript.FormatInfo) bool {
				return f.Format == format && f.Writes
			}) { // the error of ParseFormat would list formats that can only be read
				return usage(cmd, fmt.Errorf("--to: %q cannot be written; want %s", to, writable))
			}
			t, err := a.read(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			a.notes(args[0], t.Notes)
			var out bytes.Buffer // on an error nothing is printed, rather than half a session
			notes, err := transcript.Write(&out, t, format)
			if err != nil {
				return err
			}
			a.notes(args[0], notes)
			_, err = a.out.Write(out.Bytes())
			return err
		},
	}
	a.addFrom(cmd)
	cmd.Flags().StringVar(&to, "to", "", "write `FORMAT`: "+writable)
	complete(cmd, "to", "native", "openai", "responses", "anthropic")
	return cmd
}
