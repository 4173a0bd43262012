// Log lines in the form that the host reads from standard error. Never log conversation text.

const levels = ["trace", "debug", "info", "warn", "error"] as const;
export type Level = (typeof levels)[number];

let least: Level = "debug";

/** Sets the least severe level that the host keeps. */
export function setLevel(level: string): void {
  least = levels.find((l) => l === level) ?? least;
}

export function log(level: Level, message: string, fields: Record<string, unknown> = {}): void {
  if (levels.indexOf(level) < levels.indexOf(least)) {
    return;
  }
  const timestamp = new Date().toISOString().replace("Z", "000Z"); // six digits of fractions
  const line = { "@level": level, "@message": message, "@timestamp": timestamp, ...fields };
  process.stderr.write(JSON.stringify(line) + "\n");
}
