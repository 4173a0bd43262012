// Package jsonrpc is what the doors that speak JSON-RPC 2.0 in lines share: reading lines of bounded length, and
// messages in their strict form. Which methods there are, and in which order they run, each door decides.
package jsonrpc
