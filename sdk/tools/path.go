package tools

import (
	"path"
	"strings"
)

// IsAbs reports whether a path is absolute, on whatever system: "/src", "C:\src", "c:/src", "\\server\share".
func IsAbs(p string) bool { return path.IsAbs(p) || isWindows(p) }

// Resolve returns the path by which a file is known: p, cleaned, if it is absolute, else p within root, which must be
// absolute. It only looks at the letters, never at the system that it runs on: no symbolic links, no "~".
//
// Paths of Windows are known by one spelling, c:/src/main.go, whether they are written with either slash, with \\?\, or
// with a letter of either case; \\server\share is //server/share. Where root is one of them, /c/src, /cygdrive/c/src and
// /mnt/c/src are as well what Git's, Cygwin's and WSL's shells call c:/src. Where root is a path of Unix, all those are
// what they are, and "\" is a letter; a path with a drive is then where WSL has that, below /mnt, or where root says
// that Git's shell has it: /c/src. No letters are folded; see [Key].
func Resolve(root, p string) string {
	if !isWindows(p) && !isWindows(root) {
		if path.IsAbs(p) {
			return path.Clean(p)
		}
		return path.Join(root, p)
	}
	if strings.HasPrefix(root, "/") && !isWindows(root) {
		volume, rest := windows(p)
		if !isDrive(volume) {
			return volume + rest
		}
		mount := "/mnt/"
		if len(root) > 1 && isLetter(root[1]) && (len(root) == 2 || root[2] == '/') {
			mount = "/"
		}
		return path.Clean(mount + volume[:1] + rest)
	}
	volume, rest := windows(p)
	switch {
	case volume != "":
		return volume + rest
	case strings.HasPrefix(p, `\`):
		volume, _ = windows(root)
		return volume + rest
	case path.IsAbs(rest):
		return rest
	}
	volume, dir := windows(root)
	return volume + path.Join(dir, rest)
}

// Key is [Resolve] for comparing: two paths are of one file if their keys are equal. On a drive, letters of either case
// are the same.
func Key(root, p string) string {
	p = Resolve(root, p)
	if isWindows(p) && isDrive(p[:2]) {
		return strings.ToLower(p)
	}
	return p
}

// windows cuts the volume, "c:" or "//server", from a path, and returns the cleaned rest with slashes. Without a volume,
// it is "", and the rest may be relative.
func windows(p string) (volume, rest string) {
	p = strings.ReplaceAll(p, `\`, "/")
	for _, prefix := range []string{"//?/", "//./"} {
		if after, ok := strings.CutPrefix(p, prefix); ok {
			p = after
			if server, ok := cutFold(p, "UNC/"); ok {
				p = "//" + server
			}
			break
		}
	}
	if isWindows(p) {
		return strings.ToLower(p[:1]) + ":", path.Clean("/" + p[2:])
	}
	if server, ok := strings.CutPrefix(p, "//"); ok {
		name, rest, _ := strings.Cut(server, "/")
		return "//" + name, path.Clean("/" + rest)
	}
	for _, prefix := range []string{"/mnt/", "/cygdrive/", "/"} {
		after, ok := strings.CutPrefix(p, prefix)
		if ok && after != "" && isLetter(after[0]) && (len(after) == 1 || after[1] == '/') {
			return strings.ToLower(after[:1]) + ":", path.Clean("/" + after[1:])
		}
	}
	return "", path.Clean(p)
}

func cutFold(s, prefix string) (after string, ok bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// isWindows reports whether a path can only be one of Windows: it has a drive, or begins with two backslashes.
func isWindows(p string) bool {
	return strings.HasPrefix(p, `\\`) || len(p) > 1 && isDrive(p[:2]) && (len(p) == 2 || p[2] == '/' || p[2] == '\\')
}

func isDrive(volume string) bool { return len(volume) == 2 && isLetter(volume[0]) && volume[1] == ':' }

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
