package isolate

// watcherName is a watcher's argv[0]; it tells a watcher from a normal start of the program.
const watcherName = "thresh-plugin-watcher"
