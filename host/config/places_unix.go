//go:build unix

package config

// homeVariable names the user's home directory.
const homeVariable = "HOME"
