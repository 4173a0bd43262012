#!/usr/bin/env node
// Starts the program of the package for this system, which npm installs next to this one.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const file = process.platform === "win32" ? "thresh.exe" : "thresh";
const platform = `@thresh-dev/thresh-${process.platform}-${process.arch}`;

function program() {
  try {
    return require.resolve(`${platform}/bin/${file}`);
  } catch {
    console.error(
      `thresh: the package ${platform} is missing. thresh runs on Linux, macOS and Windows: ` +
        "install it on the system that runs it, and without --omit=optional",
    );
    process.exit(1);
  }
}

// Before the program starts: a signal that came in between would end this process alone, and leave the program behind.
// A terminal sends the first three to the program as well, which decides what they mean. Others send SIGTERM to this
// process alone.
for (const signal of ["SIGINT", "SIGQUIT", "SIGHUP"]) process.on(signal, () => {});
process.on("SIGTERM", () => child.kill("SIGTERM"));
const child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => {
  console.error(`thresh: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
