// Compares thresh.mjs with what thresh.d.mts declares: what is typed exists, and the other way round.
import { readFileSync } from "node:fs";
import ts from "typescript";
import * as client from "../clients/typescript/thresh.mjs";

const types = new URL("../clients/typescript/thresh.d.mts", import.meta.url);
const file = ts.createSourceFile("thresh.d.mts", readFileSync(types, "utf8"), ts.ScriptTarget.Latest, true);
const wrong = [];
const declared = new Set();
for (const statement of file.statements.filter(ts.isClassDeclaration)) {
  const name = statement.name.text;
  declared.add(name);
  const methods = statement.members.filter(ts.isMethodDeclaration).map((member) => member.name.getText());
  const made = client[name] ? Object.getOwnPropertyNames(client[name].prototype) : [];
  for (const method of methods.filter((m) => !made.includes(m))) wrong.push(`${name}.${method} does not exist`);
  for (const method of made.filter((m) => m !== "constructor" && !m.startsWith("_") && !methods.includes(m))) {
    wrong.push(`${name}.${method} has no type`);
  }
}
for (const statement of file.statements.filter(ts.isFunctionDeclaration)) {
  const name = statement.name.text;
  declared.add(name);
  if (!client[name]) wrong.push(`${name} does not exist`);
}
for (const name of Object.keys(client).filter((name) => !declared.has(name))) wrong.push(`${name} has no type`);
if (wrong.length > 0) {
  console.error(wrong.join("\n"));
  process.exit(1);
}
