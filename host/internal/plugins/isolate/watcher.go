package isolate

const watcherName = "thresh-plugin-watcher"
