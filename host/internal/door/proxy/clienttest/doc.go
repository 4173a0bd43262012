// Package clienttest runs agents that exist against a strict model server, through thresh wrap. It has tests alone.
//
// 'make test-clients' installs the agents of versions.txt and runs it; without AGENTS_DIR, which names where they
// are installed, the tests are skipped.
package clienttest
