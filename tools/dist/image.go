package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// imageUser runs the service in a container: no name, since there is no /etc/passwd, and no rights. It owns /state.
const imageUser = 65532

// image writes a container image for all Linux platforms, as an OCI archive. It has the program and its licences, and
// nothing else: no shell, no libraries.
func (r release) image(platforms []platform) (err error) {
	var index v1.ImageIndex = mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range platforms {
		if p.system != "linux" {
			continue
		}
		one, err := r.imageOf(p)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: one, Descriptor: v1.Descriptor{
			MediaType: types.OCIManifestSchema1, Platform: &v1.Platform{OS: p.system, Architecture: p.arch}}})
	}
	if m, err := index.IndexManifest(); err != nil || len(m.Manifests) == 0 {
		return err
	}
	dir, err := os.MkdirTemp("", "thresh-image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// Tools take a file with one entry, whose index then has the platforms.
	to, err := layout.Write(dir, mutate.IndexMediaType(empty.Index, types.OCIImageIndex))
	if err != nil {
		return err
	}
	if err := to.AppendIndex(index, layout.WithAnnotations(
		map[string]string{"org.opencontainers.image.ref.name": r.number()})); err != nil {
		return err
	}
	members, err := membersOf(dir, "")
	if err != nil {
		return err
	}
	data, err := tarOf(members, r.at)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, fmt.Sprintf("thresh_%s_oci.tar", r.number())), data, 0o644)
}

// imageOf makes the image for one platform, of one layer.
func (r release) imageOf(p platform) (v1.Image, error) {
	// A read-only file system needs the directories that volumes are mounted on.
	members := []member{
		{name: "state/", mode: 0o700, owner: imageUser},
		{name: "tmp/", mode: 0o1777},
	}
	for _, file := range [][2]string{{"thresh", "thresh"}, {"LICENSE", "licenses/LICENSE"},
		{"THIRD-PARTY-LICENSES.txt", "licenses/THIRD-PARTY-LICENSES.txt"}} {
		m, err := memberOf(filepath.Join(p.dir, file[0]), file[1])
		if err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	files, err := tarOf(members, r.at)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files)), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	made := v1.Time{Time: r.at}
	image, err := mutate.Append(base, mutate.Addendum{Layer: layer, History: v1.History{Created: made}})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = p.system, p.arch, made
	config.Config = v1.Config{
		User: fmt.Sprintf("%d:%[1]d", imageUser),
		// The configuration is /etc/thresh/thresh.yaml, if one is mounted there.
		Env:          []string{"HOME=/state", "XDG_STATE_HOME=/state", "XDG_CONFIG_HOME=/etc", "TMPDIR=/tmp"},
		Volumes:      map[string]struct{}{"/state": {}},
		ExposedPorts: map[string]struct{}{"7440/tcp": {}},
		Entrypoint:   []string{"/thresh"},
		Cmd:          []string{"serve", "--set", "serve.listen=0.0.0.0:7440"},
		Labels: map[string]string{
			"org.opencontainers.image.version":  r.number(),
			"org.opencontainers.image.source":   homepage,
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return mutate.ConfigFile(image, config)
}
