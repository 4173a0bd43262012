package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// pack writes dir as a package of a format, "deb" or "rpm"; packaging/nfpm.yaml says what it holds. The file gets the
// name that the format's tools expect.
func (r release) pack(dir, arch, format string) error {
	// The variables of nfpm.yaml. Nothing else is replaced: the environment of the build must not change the package.
	values := map[string]string{"STAGE": dir, "ARCH": arch, "VERSION": r.version}
	config, err := nfpm.ParseFileWithEnvMapping("packaging/nfpm.yaml", func(name string) string { return values[name] })
	if err != nil {
		return err
	}
	// The format's own settings over the common ones.
	info, err := config.Get(format)
	if err != nil {
		return err
	}
	info = nfpm.WithDefaults(info)
	// Otherwise these are the time of the build and the name of the machine.
	info.MTime = r.at
	info.RPM.BuildHost = "localhost" // otherwise the name of the machine
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	// Checks the settings, and reads which files belong to the package.
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(r.out, packager.ConventionalFileName(info)))
	if err != nil {
		return err
	}
	return errors.Join(packager.Package(info, f), f.Close())
}
