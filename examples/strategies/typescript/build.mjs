// Bundles the strategy with its libraries and the .proto files into one executable file. A plugin directory then needs
// nothing else, and what the host hashes is everything that runs. "node build.mjs test" bundles the tests instead.

import { chmodSync } from "node:fs";
import { build } from "esbuild";

const common = { bundle: true, platform: "node", target: "node20", loader: { ".proto": "text" }, logLevel: "warning" };

if (process.argv[2] === "test") {
  await build({ ...common, entryPoints: ["test/*.test.ts"], outdir: "dist/test" });
} else {
  const outfile = "dist/thresh-strategy-clip-results";
  // A plugin gets no PATH, so "#!/usr/bin/env node" would find nothing: the line names the node that builds this. A plugin
  // may not read /etc either, and node does not start without OpenSSL's configuration unless it is given another file. The
  // file has no extension, so a package.json above the plugin directory decides whether node loads it as an ES module: the
  // second line of the banner makes it work as either.
  const banner = `#!${process.execPath} --openssl-config=/dev/null
var require = typeof require === "function" ? require : process.getBuiltinModule("node:module").createRequire(process.argv[1]);`;
  await build({ ...common, entryPoints: ["src/main.ts"], outfile, banner: { js: banner } });
  chmodSync(outfile, 0o755);
  console.log(outfile);
}
