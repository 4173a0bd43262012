package config

import (
	"net/url"
	"path/filepath"
	"strings"
)

// The values of sessions.store. A file has its path after the colon, a database is an address.
const (
	storeMemory = "memory"
	storeSQLite = "sqlite"
)

// keyStore is the setting that says where sessions are kept.
const keyStore = "sessions.store"

// validStore judges a value of sessions.store. Whether there is such a database is found out when it is opened.
func validStore(value string) bool {
	if path, ok := strings.CutPrefix(value, storeSQLite+":"); ok {
		return path != "" && !strings.ContainsRune(path, 0)
	}
	if u, err := url.Parse(value); err == nil && (u.Scheme == "postgres" || u.Scheme == "postgresql") {
		return u.Host != "" || u.Query().Has("host")
	}
	return value == storeMemory || value == storeSQLite
}

// store returns a value of sessions.store with the path of its file: a relative one is that from the working directory.
// Without a home directory there is no place for the file of "sqlite", which then stays as it is.
func (p places) store(value string) string {
	if value == storeSQLite && p.stateHome != "" {
		return storeSQLite + ":" + filepath.Join(p.stateHome, "thresh", "sessions.db")
	}
	if path, ok := strings.CutPrefix(value, storeSQLite+":"); ok && !filepath.IsAbs(path) {
		return storeSQLite + ":" + filepath.Join(p.workDir, path)
	}
	return value
}

// withoutPassword returns a value of sessions.store as it may be shown.
func withoutPassword(value any) any {
	text, _ := value.(string)
	u, err := url.Parse(text)
	if err != nil || u.User == nil && !u.Query().Has("password") {
		return value
	}
	if query := u.Query(); query.Has("password") {
		query.Set("password", "xxxxx")
		u.RawQuery = query.Encode()
	}
	return u.Redacted()
}
