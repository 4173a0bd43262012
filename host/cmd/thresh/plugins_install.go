package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/builtin"
	"github.com/thresh-dev/thresh/host/internal/plugins/install"
	"github.com/thresh-dev/thresh/host/internal/table"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/buildinfo"
	"github.com/thresh-dev/thresh/internal/text"
)

// installing runs what a command does with an installer, and shows on a terminal what comes.
func (a *app) installing(cmd *cobra.Command, do func(*config.Config, *install.Installer) error) error {
	c, err := a.loadConfig(cmd)
	if err != nil {
		return err
	}
	set := c.Settings()
	here, err := filepath.Abs(cmp.Or(a.dir, "."))
	if err != nil {
		return err
	}
	temp, _ := c.LookupEnv("TMPDIR")
	shown := newProgress(a.err)
	defer shown.clear()
	in, err := install.New(install.Options{
		Plugins: set.Plugins, WorkDir: here, Logger: window.DefaultLogger(a.err, set.Log),
		RunDir: temp, Version: buildinfo.Version(), LookupEnv: c.LookupEnv,
		Note:     func(note string) { shown.clear(); a.say(hclog.Info, note) },
		Progress: shown.bytes,
	})
	if err != nil {
		return err
	}
	return do(c, in)
}

func installCommand(a *app) *cobra.Command {
	var key string
	cmd := &cobra.Command{
		Use:   "install [SOURCE]...",
		Short: "Install strategy plugins, or what plugins.required names",
		Long: `Fetches each SOURCE, checks it, asks the plugin under isolation what it is, puts it into the first
of plugins.dirs, and locks it. Nothing of it runs before its checksum and its signature are right. A
SOURCE is

  github.com/OWNER/REPO[@VERSION]   a release; @1.2.3 or @^1.2, or else the newest
  https://HOST/DIR/[@VERSION]       a directory with the files of releases
  https://HOST/DIR/ARCHIVE          one archive of it
  DIR, ARCHIVE or PROGRAM           on this machine
  BUNDLE.tar                        what 'thresh plugins bundle' wrote

A release has archives thresh-strategy-NAME_VERSION_OS_ARCH.tar.gz (or .zip), checksums.txt, and if
it is signed, checksums.txt.minisig and the publisher's key, minisign.pub. The key is remembered at
the first installation; a release that is signed with another one, or not any more, is refused.

Without a SOURCE it installs what plugins.required names, in the versions that it names. 'thresh
serve' and 'thresh run' do not start before the two agree. An older version than the one that is
there is installed only if it is named.`,
		Example: `  thresh plugins install github.com/acme/keep-last@^1.2
  thresh plugins install`,
		RunE: func(cmd *cobra.Command, sources []string) error {
			return a.installing(cmd, func(c *config.Config, in *install.Installer) error {
				wanted := in.Needed()
				if len(sources) > 0 {
					wanted = nil
				}
				for _, source := range sources {
					wanted = append(wanted, install.Wanted{Source: source, Key: key})
				}
				if len(wanted) == 0 {
					return usage(cmd, errors.New("needs a SOURCE: plugins.required names no plugin"))
				}
				return a.installAll(cmd, c, in, wanted)
			})
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "the publisher's public key of minisign, RW…: `KEY` signs the releases from now on")
	a.addOutput(cmd)
	return cmd
}

func upgradeCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "upgrade [NAME]...",
		Short: "Install newer versions of plugins that were installed",
		Long: `Installs the newest version of the named plugins, or of all that 'thresh plugins install' has
installed, within the range that was asked for. A plugin that was installed in one version (@1.2.3)
keeps it. Hosts that run change over by themselves at the next call. 'thresh plugins list
--outdated' shows what there is.`,
		Example: `  thresh plugins upgrade
  thresh plugins upgrade keep-last`,
		RunE: func(cmd *cobra.Command, names []string) error {
			return a.installing(cmd, func(c *config.Config, in *install.Installer) error {
				all, err := in.Installed()
				if err != nil {
					return err
				}
				var wanted []install.Wanted
				for _, p := range all {
					if len(names) == 0 || slices.Contains(names, p.Name) {
						wanted = append(wanted, install.Wanted{Source: p.Source, Name: p.Name, Version: p.Wanted})
					}
				}
				for _, name := range names {
					if !slices.ContainsFunc(all, func(p install.Newer) bool { return p.Name == name }) {
						return fmt.Errorf("%s was not installed by thresh", name)
					}
				}
				return a.installAll(cmd, c, in, wanted)
			})
		},
	}
	a.addOutput(cmd)
	return cmd
}

// installAll goes on after a source that fails: the others are installed.
func (a *app) installAll(cmd *cobra.Command, c *config.Config, in *install.Installer, wanted []install.Wanted) error {
	results, errs := []install.Result{}, []error(nil)
	for _, w := range wanted {
		done, err := in.Install(cmd.Context(), w)
		results = append(results, done...)
		if err != nil {
			errs = append(errs, err)
		}
		if cmd.Context().Err() != nil {
			break
		}
	}
	for _, r := range results {
		if r.Change != "unchanged" {
			a.logChange(c, "plugin "+r.Change, "plugin", r.Name, "version", r.Version, "sha256", r.SHA256)
		}
	}
	return errors.Join(append(errs, a.show(results, func() error { a.printInstalled(results); return nil }))...)
}

func (a *app) printInstalled(results []install.Result) {
	row := func(what, value string) { fmt.Fprintf(a.out, "  %-9s%s\n", what, text.Printable(value, maxName)) }
	for i, r := range results {
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		before := ""
		if r.Before != "" && r.Before != r.Version {
			before = " from " + r.Before
		}
		fmt.Fprintf(a.out, "%s %s: %s%s\n", r.Name, text.Printable(r.Version, maxName), r.Change, before)
		signed := "with " + r.Key
		switch {
		case r.NewKey:
			signed += ", which is remembered from now on: compare it with what the publisher says"
		case r.Key == "":
			signed = "no: only its source vouches for it"
		}
		if r.Change == "unchanged" {
			if r.NewKey {
				row("signed", signed)
			}
			continue
		}
		row("source", r.Source)
		row("file", a.underHome(r.Path))
		if r.Description != "" {
			row("does", r.Description)
		}
		row("called", string(r.Trigger))
		var asks []string
		if r.RequiresLLM {
			asks = append(asks, "a model")
		}
		if r.NeedsNetwork {
			asks = append(asks, "the network, which plugins.grants."+r.Name+".network gives it")
		}
		row("asks for", cmp.Or(strings.Join(asks, ", and "), "nothing"))
		row("signed", signed)
		row("locked", r.SHA256+"  "+strings.Join(r.Platforms, ", "))
		if slices.Contains(builtin.Names(), r.Name) {
			row("note", "it is used instead of the strategy of that name that is built in")
		}
	}
}

func removeCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME...",
		Short: "Remove plugins that were installed",
		Long: `Removes the files of plugins that 'thresh plugins install' has installed, and forgets their
checksums and their publishers' keys. Hosts that run end them.`,
		Example: `  thresh plugins remove keep-last`,
		Args: func(cmd *cobra.Command, given []string) error {
			if len(given) == 0 {
				return usage(cmd, errors.New("needs a NAME"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, names []string) error {
			return a.installing(cmd, func(c *config.Config, in *install.Installer) error {
				var errs []error
				for _, name := range names {
					path, err := in.Remove(cmd.Context(), name)
					if err != nil {
						errs = append(errs, err)
						continue
					}
					a.logChange(c, "plugin removed", "plugin", name)
					fmt.Fprintf(a.out, "%s: removed\n", a.underHome(path))
				}
				return errors.Join(errs...)
			})
		},
	}
}

func bundleCommand(a *app) *cobra.Command {
	var key string
	cmd := &cobra.Command{
		Use:   "bundle FILE.tar [SOURCE]...",
		Short: "Write plugins into one file, for machines without a network",
		Long: `Fetches and checks the releases of each SOURCE, or of what plugins.required names, and writes them
into one file with the archives of all platforms. On a machine without a network, 'thresh plugins
install FILE.tar' checks and installs them as from their sources.`,
		Example: `  thresh plugins bundle plugins.tar github.com/acme/keep-last@^1.2`,
		Args: func(cmd *cobra.Command, given []string) error {
			if len(given) == 0 {
				return usage(cmd, errors.New("needs a FILE.tar to write"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, given []string) error {
			return a.installing(cmd, func(_ *config.Config, in *install.Installer) error {
				wanted := in.Needed()
				if len(given) > 1 {
					wanted = nil
				}
				for _, source := range given[1:] {
					wanted = append(wanted, install.Wanted{Source: source, Key: key})
				}
				if len(wanted) == 0 {
					return usage(cmd, errors.New("needs a SOURCE: plugins.required names no plugin"))
				}
				names, err := in.Bundle(cmd.Context(), a.path(given[0]), wanted)
				for _, name := range names {
					fmt.Fprintln(a.out, name)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "the publisher's public key of minisign, RW…: what `KEY` has not signed is refused")
	return cmd
}

// printOutdated lists the installed plugins that have newer versions. The status is 1 if a source could not be asked.
func (a *app) printOutdated(cmd *cobra.Command) error {
	return a.installing(cmd, func(_ *config.Config, in *install.Installer) error {
		all, err := in.Installed()
		if err != nil {
			return err
		}
		in.Newest(cmd.Context(), all)
		outdated, errs := []install.Newer{}, []error(nil)
		for _, p := range all {
			if p.Problem != "" {
				errs = append(errs, fmt.Errorf("%s: %s", p.Name, p.Problem))
			}
			if p.Outdated() || p.Problem != "" {
				outdated = append(outdated, p)
			}
		}
		return errors.Join(a.show(outdated, func() error {
			t := table.New(table.Column{Name: "name"}, table.Column{Name: "version"}, table.Column{Name: "newest"},
				table.Column{Name: "wanted"}, table.Column{Name: "source", Min: 20, Middle: true})
			for _, p := range outdated {
				t.Row(p.Name, text.Printable(p.Version, 100), dash(p.Newest), dash(p.Wanted), text.Printable(p.Source, maxName))
			}
			if len(outdated) == 0 {
				a.say(hclog.Info, fmt.Sprintf("nothing is outdated: %d plugins were installed", len(all)))
				return nil
			}
			return a.printTable(t)
		}), errors.Join(errs...))
	})
}
