import { info } from "./strategy";

/**
 * Handles a start by a person rather than a host, and returns the exit status. The options are those that PROTOCOL.md
 * asks for; no host reads the output.
 */
export function byHand(args: string[]): number {
  switch (args.length === 1 ? args[0] : "") {
    case "--describe": {
      const config = info.config.map((f) => ({ ...f, defaultValue: JSON.parse(f.defaultValue.toString()) as unknown }));
      console.log(JSON.stringify({ ...info, config }, null, 2));
      return 0;
    }
    case "--version":
      console.log(info.name, info.version);
      return 0;
    case "--help":
      console.log(usage);
      return 0;
    default:
      console.error(usage);
      return args.length > 0 ? 2 : 1;
  }
}

const usage = `thresh-strategy-${info.name} is the thresh strategy plugin "${info.name}", version ${info.version}: ${info.description}.
It is not started by hand: a thresh host starts it when a session needs it.

  --describe   print what it declares, as JSON
  --version    print its name and version
  --help       print this`;
