// Prints what hyparquet reads of Parquet files: for each file one line of JSON, {"rows": […]} or {"error": text}.
// Integers of any size are numbers; dates and timestamps are text, times of the day the stored number, decimals
// the double that hyparquet has; bytes are hex; floats that JSON lacks are "NaN", "Infinity", "-Infinity".
//
// node hyparquet_rows.mjs PACKAGES OPTIONS FILE…
// PACKAGES: the folder with node_modules. OPTIONS: of parquetReadObjects, as JSON.

import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [packages, options, ...files] = process.argv.slice(2);
const { resolve: find } = createRequire(pathToFileURL(resolve(packages, "package.json")));
const load = (name) => import(pathToFileURL(find(name)));
const { asyncBufferFromFile, parquetReadObjects } = await load("hyparquet");
const { compressors } = await load("hyparquet-compressors");

const MS_PER_DAY = 86400000;

function moment(count, digits) {
  const per = 10n ** BigInt(digits);
  const part = ((count % per) + per) % per;
  const seconds = new Date(Number((count - part) / per) * 1000);
  return `${seconds.toISOString().slice(0, -5)}.${String(part).padStart(digits, "0")}`;
}

const hex = (bytes) => Buffer.from(bytes).toString("hex");
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const text = (bytes) => decoder.decode(bytes); // not strict, since bounds of binary columns pass here, too

const parsers = {
  dateFromDays: (days) => new Date(days * MS_PER_DAY).toISOString().split("T")[0],
  timestampFromMilliseconds: (count) => moment(count, 3),
  timestampFromMicroseconds: (count) => moment(count, 6),
  timestampFromNanoseconds: (count) => moment(count, 9),
  stringFromBytes: text,
  jsonFromBytes: text,
};

function shown(value) {
  if (value === undefined || value === null) return "null";
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number") {
    if (Object.is(value, -0)) return "-0.0";
    return Number.isFinite(value) ? String(value) : `"${value}"`;
  }
  if (value instanceof Uint8Array) return `"${hex(value)}"`;
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return `[${Array.from(value, shown).join(",")}]`;
  if (typeof value === "object") {
    return `{${Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}:${shown(inner)}`).join(",")}}`;
  }
  return JSON.stringify(value);
}

async function rows(file) {
  const given = JSON.parse(options);
  try {
    const buffer = await asyncBufferFromFile(file);
    const found = await parquetReadObjects({ file: buffer, compressors, parsers, utf8: false, ...given });
    return `{"rows":[${found.map(shown).join(",")}]}`;
  } catch (error) {
    return JSON.stringify({ error: String(error.message) });
  }
}

for (const file of files) {
  console.log(await rows(file));
}
