// The process: environment, socket, handshake line, signals, and the lifeline that ends it with the host.

import { writeSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";

import * as grpc from "@grpc/grpc-js";

import { Broker } from "./broker";
import { byHand } from "./byhand";
import { log } from "./log";
import { services } from "./protocol";
import { Service } from "./service";

/** Set by a host that starts a plugin; see PROTOCOL.md. Without it, a person started the program. */
const cookie = "b1f0c4d2e97a46538c20d8e15f7a93be";
/** The largest gRPC message that is accepted, in bytes. */
const messageLimit = 64 << 20;

function serve(): void {
  const dir = process.env["PLUGIN_UNIX_SOCKET_DIR"];
  if (!dir) {
    console.error("PLUGIN_UNIX_SOCKET_DIR is not set: there is nowhere to listen");
    process.exit(1);
  }
  process.on("SIGTERM", () => process.exit(0));
  process.on("SIGINT", () => undefined); // Ctrl-C reaches every process of a terminal; the host decides
  watchLifeline();

  const broker = new Broker();
  const server = new grpc.Server({ "grpc.max_receive_message_length": messageLimit });
  server.addService(services["plugin.GRPCBroker"] as grpc.ServiceDefinition, broker.implementation);
  server.addService(services["thresh.v1.StrategyService"] as grpc.ServiceDefinition, new Service(broker).implementation);

  const path = join(dir, "strategy.sock");
  server.bindAsync(`unix:${path}`, grpc.ServerCredentials.createInsecure(), (err) => {
    if (err) {
      log("error", "cannot listen", { path, error: err.message });
      process.exit(1);
    }
    writeSync(1, `1|1|unix|${path}|grpc\n`); // the handshake line, before anything else
  });
}

/** Ends the process when the host has ended, however that happened: only the host holds the other end of this pipe. */
function watchLifeline(): void {
  const fd = process.env["THRESH_LIFELINE_FD"];
  if (!fd) {
    return;
  }
  const lifeline = new Socket({ fd: Number(fd), readable: true, writable: false });
  lifeline.on("end", () => process.exit(0));
  lifeline.on("error", () => process.exit(0));
  lifeline.resume();
}

if (process.env["THRESH_STRATEGY_PLUGIN"] === cookie) {
  serve();
} else {
  process.exitCode = byHand(process.argv.slice(2));
}
