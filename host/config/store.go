package config

import (
	"net/url"
	"path/filepath"
	"strings"
)

// The values of sessions.store that are not an address.
const (
	storeMemory = "memory"
	storeSQLite = "sqlite"
)

const keyStore = "sessions.store"

// validStore judges a value of sessions.store. Whether the database exists shows when it is opened.
func validStore(value string) bool {
	if path, ok := strings.CutPrefix(value, storeSQLite+":"); ok {
		return path != "" && !strings.ContainsRune(path, 0)
	}
	if u, err := url.Parse(value); err == nil && (u.Scheme == "postgres" || u.Scheme == "postgresql") {
		return u.Host != "" || u.Query().Has("host")
	}
	return value == storeMemory || value == storeSQLite
}

// store completes a value of sessions.store with the absolute path of its file. Without a home directory "sqlite" has
// no place for it, and is returned as it is.
func (p places) store(value string) string {
	if value == storeSQLite && p.stateHome != "" {
		return storeSQLite + ":" + inside(p.stateHome, "sessions.db")
	}
	if path, ok := strings.CutPrefix(value, storeSQLite+":"); ok && !filepath.IsAbs(path) {
		return storeSQLite + ":" + filepath.Join(p.workDir, path)
	}
	return value
}

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
