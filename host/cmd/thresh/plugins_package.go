package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/install"
	"github.com/thresh-dev/thresh/host/internal/table"
	"github.com/thresh-dev/thresh/internal/atomicfile"
	"github.com/thresh-dev/thresh/internal/text"
)

// releasePage is what 'plugins package' writes about a release.
const releasePage = "RELEASE.md"

func packageCommand(a *app) *cobra.Command {
	var sign string
	cmd := &cobra.Command{
		Use:   "package DIR [SESSION]...",
		Short: "Make the files of a release from a strategy's programs",
		Long: `DIR has a directory for each platform, such as linux_amd64 or darwin_arm64, with the program that
was built for it, thresh-strategy-NAME. This verifies the program for this platform, and writes
into DIR what 'thresh plugins install' reads: an archive for each platform and checksums.txt; with
--sign its signature and minisign.pub; and RELEASE.md, with what 'thresh plugins verify' says of
the strategy, and 'thresh compare' on each SESSION. The version is the program's own. If the key is
encrypted, its password is in the environment, as MINISIGN_PASSWORD.`,
		Example: `  thresh plugins package release
  thresh plugins package release examples/sessions/*.json --sign ~/.minisign/minisign.key`,
		Args: func(cmd *cobra.Command, given []string) error {
			if len(given) == 0 {
				return usage(cmd, errors.New("needs a DIR with the programs"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, given []string) error {
			return a.installing(cmd, func(_ *config.Config, in *install.Installer) error {
				var signer install.Signer
				if sign != "" {
					var err error
					if signer, err = install.ReadSigner(a.path(sign), a.getenv("MINISIGN_PASSWORD")); err != nil {
						return err
					}
				}
				dir, err := filepath.Abs(a.path(given[0]))
				if err != nil {
					return err
				}
				p, err := in.Pack(cmd.Context(), dir, signer)
				if err != nil {
					return err
				}
				page, err := a.releasePage(cmd.Context(), p, given[1:])
				if err != nil {
					return err
				}
				if err := atomicfile.Write(filepath.Join(dir, releasePage), 0o644, func(w io.Writer) error {
					_, err := io.WriteString(w, page)
					return err
				}); err != nil {
					return err
				}
				p.Files = append(p.Files, releasePage)
				return a.show(p, func() error {
					for _, file := range p.Files {
						fmt.Fprintln(a.out, filepath.Join(given[0], file))
					}
					return nil
				})
			})
		},
	}
	cmd.Flags().StringVar(&sign, "sign", "", "sign the checksums with the private key of minisign in `FILE`")
	a.addOutput(cmd)
	return cmd
}

// releasePage says what a release is. A strategy that fails its verification has none.
func (a *app) releasePage(ctx context.Context, p install.Package, sessions []string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s %s\n\n%s\n", p.Name, p.Version, text.Printable(p.Description, maxName))
	if p.Key != "" {
		fmt.Fprintf(&b, "\nSigned with `%s`.\n", p.Key)
	}
	tools := [][]string{{"plugins", "verify", p.Program}}
	if len(sessions) > 0 {
		tools = append(tools, append([]string{"compare", "--plugin-dir", filepath.Dir(p.Program), "--strategy", p.Name}, sessions...))
	}
	for _, args := range tools {
		var out, said bytes.Buffer
		inner := newApp(a.place, bytes.NewReader(nil), &out, &said)
		tool := newRoot(inner)
		tool.SetArgs(args)
		if err := tool.ExecuteContext(ctx); err != nil {
			return "", fmt.Errorf("%s %s is not fit for a release:\n%s%s%w", p.Name, p.Version, out.String(), said.String(), err)
		}
		command := args[0]
		if command == "plugins" {
			command += " " + args[1]
		}
		fmt.Fprintf(&b, "\n`thresh %s`:\n\n```text\n%s```\n", command, out.String())
	}
	return b.String(), nil
}

func searchCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "search [WORD]...",
		Short: "Search an index of strategy plugins",
		Long: `Lists the plugins of the index at plugins.index that have each WORD in their name, source or
description, or all of them. An index is a JSON file with the fields name, source, does, trigger and
key of each plugin. It vouches for nothing: compare the key with what the publisher says.`,
		Example: `  thresh plugins search summary`,
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.installing(cmd, func(_ *config.Config, in *install.Installer) error {
				found, err := in.Search(cmd.Context(), words...)
				if err != nil {
					return err
				}
				if found == nil {
					found = []install.Listed{}
				}
				return a.show(found, func() error {
					if len(found) == 0 {
						a.say(hclog.Info, "no plugin of the index has that")
						return nil
					}
					t := table.New(table.Column{Name: "name"}, table.Column{Name: "trigger", Rank: 2},
						table.Column{Name: "source", Min: 10, Middle: true}, table.Column{Name: "does", Rank: 1, Min: 20})
					for _, l := range found {
						source := l.Source
						if source == "" {
							source = builtIn
						}
						t.Row(l.Name, text.Printable(string(l.Trigger), 20), text.Printable(source, maxName),
							text.Printable(l.Does, maxName))
					}
					return a.printTable(t)
				})
			})
		},
	}
	a.addOutput(cmd)
	return cmd
}
