package config

// homeVariable names the user's home directory. HOME is what Git's shell sets, for what it starts.
const homeVariable = "USERPROFILE"
