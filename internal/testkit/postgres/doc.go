// Package postgres runs PostgreSQL for tests: a cluster in a temporary directory, for a test or for all of a process.
//
// It needs the programs of a Debian package postgresql, or the directory with initdb and postgres in POSTGRES_BIN. Where
// there are none, the test is skipped; with POSTGRES_TESTS=require, as '.ci/run' sets it, it fails. Neither name begins
// with THRESH_: those are settings, which a host that a test starts would refuse.
package postgres
