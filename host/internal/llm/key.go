package llm

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/thresh-dev/thresh/internal/atomicfile"
)

// maxKeyBytes bounds a key file, in bytes.
const maxKeyBytes = 16 << 10

// readKey returns the profile's key; "" if it has none. Errors never contain the value. White space around the key is
// trimmed, as editors end files with a newline; inside it is an error, as an HTTP header cannot carry it.
func readKey(p Profile, lookup func(string) (string, bool)) (string, error) {
	var text, source string
	switch {
	case p.KeyEnv != "":
		source = "the environment variable " + p.KeyEnv
		value, set := lookup(p.KeyEnv)
		if !set {
			return "", fmt.Errorf(
				"%s is not set; %s names it as the one that holds the key", source, p.setting("keyEnv"),
			)
		}
		text = value
	case p.KeyFile != "":
		source = "the file " + p.KeyFile
		value, err := readKeyFile(p.KeyFile)
		if err != nil {
			return "", fmt.Errorf("%s (%s) cannot be used for a key: %w", source, p.setting("keyFile"), err)
		}
		text = value
	default:
		return "", nil
	}
	key := strings.TrimSpace(text)
	switch {
	case key == "":
		return "", fmt.Errorf("%s is empty; it must hold the key for %s", source, p.setting("kind"))
	case strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' }):
		return "", fmt.Errorf("%s holds a space, a line break or another character that no key has", source)
	}
	return key, nil
}

// readKeyFile refuses a file that others can change: they could make the host send the conversation under their key.
// Others may read it: container platforms mount secrets that way.
func readKeyFile(path string) (string, error) {
	// Before opening: opening a named pipe would block until it has a writer.
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", withoutPath(err)
	case !info.Mode().IsRegular():
		return "", errors.New("it is not a regular file")
	case atomicfile.Permissions(info)&0o022 != 0:
		return "", fmt.Errorf("others may write to it (mode %#o); run chmod 600 on it", info.Mode().Perm())
	}
	f, err := os.Open(path)
	if err != nil {
		return "", withoutPath(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxKeyBytes+1))
	if err != nil {
		return "", withoutPath(err)
	}
	if len(data) > maxKeyBytes {
		return "", fmt.Errorf("it is larger than %d bytes", maxKeyBytes)
	}
	return string(data), nil
}

func withoutPath(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// CheckKeyFile returns why the profile's key file cannot be read any more; nil if it can, or if there is none. The
// client itself keeps the key that it was opened with.
func (c *Client) CheckKeyFile() error {
	if c.profile.KeyFile == "" {
		return nil
	}
	if _, err := readKey(c.profile, nil); err != nil {
		return c.profile.failf(fmt.Errorf("%w: %w", ErrProfile, err), "%v", err)
	}
	return nil
}

// redactor returns a replacer for the key, including its forms in JSON and URLs: servers quote it in errors.
func redactor(key string) *strings.Replacer {
	if key == "" {
		return strings.NewReplacer()
	}
	const mark = "[key]"
	return strings.NewReplacer(key, mark, strings.ReplaceAll(key, "/", `\/`), mark, url.QueryEscape(key), mark)
}
