// This file is a client in another language, written from docs/protocol.md alone, to see that the page is enough.
//
//   node client.mjs check           computes every vector anew
//   node client.mjs send URL KEY    sends a batch in each form, and takes it back
//
// It sends reports of the vectors. How a device makes them, with coins that are exact, is on the mechanisms' pages.

import assert from "node:assert/strict";
import { createHash, createPublicKey, randomBytes, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";

const BINARY = "application/vnd.hubbub.batch";
const DOMAIN = ["kind", "options", "range", "length", "most", "attributes", "keys", "size", "norm"];
const SAME = ["absent", "changes", "delta", "epsilon", "labels", "once", "source"];
const FINAL = ["malformed_batch", "unknown_version", "id_conflict", "withdrawn", "too_large", "wrong_labels",
  "wrong_width", "period_closed"];

const read = (name) => JSON.parse(readFileSync(new URL(name, import.meta.url)));
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");
const pick = (table, keys) => Object.fromEntries(keys.filter((key) => key in table).map((key) => [key, table[key]]));
const integer = (value, size) => {
  const bytes = Buffer.alloc(size);
  bytes.writeUIntLE(value, 0, size);
  return bytes;
};

// A metric's canonical definition, and the SHA-256 of it.

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") {
    return JSON.stringify(value).replace(/[\u007f-\uffff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  }
  return `{${Object.keys(value).sort().map((key) => `${canonical(key)}:${canonical(value[key])}`).join(",")}}`;
}

const definition = (app, name, table) => canonical({
  absent: null,
  ...pick(table, SAME),
  app,
  name,
  format: 1,
  domain: pick(table, DOMAIN),
  mechanism: { kind: table.mechanism, parameters: table.parameters },
  period: parseInt(table.period, 10),
});

// A batch: {id, columns: [{metric, period, labels, reports}]}, with reports as a list of bytes.

const binary = ({ id, columns }) => Buffer.concat([
  Buffer.from("HBB\x01", "latin1"), id, integer(columns.length, 2),
  ...columns.flatMap(({ metric, period, labels, reports }) => {
    const bytes = Buffer.concat(reports);
    return [Buffer.from(metric, "hex"), integer(period, 4), Buffer.from([labels.length, ...labels]),
      integer(reports.length, 4), integer(bytes.length, 4), bytes];
  }),
]);

const json = ({ id, columns }) => Buffer.from(JSON.stringify({
  version: 1,
  id: id.toString("hex"),
  columns: columns.map(({ metric, period, labels, reports }) => (
    { metric, period, labels, count: reports.length, reports: Buffer.concat(reports).toString("base64") })),
}));

// Gzip without compression, padded in its header to a power of two.

function padded(body) {
  const packed = gzipSync(body, { level: 0 });
  let size = 512;
  while (size < packed.length + 6) size *= 2;
  const blank = size - packed.length - 6;
  const extra = Buffer.concat([integer(blank + 4, 2), Buffer.from("pd"), integer(blank, 2), Buffer.alloc(blank)]);
  packed[3] |= 4;
  return Buffer.concat([packed.subarray(0, 10), extra, packed.subarray(10)]);
}

// What to do after an answer to a batch of one report, or to a withdrawal.

function judge({ to, status, body, retry_after: retryAfter }) {
  let document = {};
  try { document = JSON.parse(body) ?? {}; } catch { /* not the collector's own */ }
  if (status === 200 && to === "withdrawal" && document.withdrawn === true) return { then: "withdrawn" };
  if (status === 200 && to === "batch" && Number.isInteger(document.accepted)) {
    return { then: document.refused.length ? "drop" : "counted" };
  }
  const isJudged = status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status);
  if (isJudged && to === "withdrawal" && document.code === "already_folded") return { then: "stop" };
  if (isJudged && to === "batch" && FINAL.includes(document.code)) return { then: "drop" };
  if ([413, 425].includes(status) || document.code === "unknown_metric") return { then: "postpone" };
  const seconds = /^\d+$/.test(retryAfter ?? "") ? Math.min(Math.max(Number(retryAfter), 1), 86400) : null;
  return { then: "wait", pause: seconds };
}

function isSigned(document, publicKey) {
  const { manifest, signature } = JSON.parse(document);
  const key = createPublicKey({ format: "jwk", key: { kty: "OKP", crv: "Ed25519", x: publicKey.slice(10) } });
  const message = Buffer.concat([Buffer.from("hubbub manifest 1\0"), Buffer.from(manifest)]);
  return verify(null, message, key, Buffer.from(signature, "base64"));
}

// The two commands.

function check() {
  const batches = read("batches.json");
  const sets = [batches, read("metrics.json")];
  for (const { app, metrics } of sets) {
    for (const { name, manifest, canonical: expected, id } of metrics) {
      assert.equal(definition(app, name, manifest), expected, name);
      assert.equal(sha256(expected), id, name);
    }
  }
  for (const vector of batches.batches) {
    const columns = vector.json.columns.map((column) => {
      const bytes = Buffer.from(column.reports, "base64");
      const width = bytes.length / column.count;
      return { ...column, reports: Array.from({ length: column.count }, (_, n) => bytes.subarray(n * width, (n + 1) * width)) };
    });
    const batch = { id: Buffer.from(vector.id, "hex"), columns };
    assert.equal(binary(batch).toString("hex"), vector.binary.map(([piece]) => piece).join(""), vector.name);
    assert.deepEqual(JSON.parse(json(batch)), vector.json, vector.name);
    assert.equal(sha256(binary(batch)), vector.digest, vector.name);
    assert.deepEqual(gunzipSync(padded(binary(batch))), binary(batch), vector.name);
  }
  const { answers } = read("answers.json");
  for (const answer of answers) assert.deepEqual(judge(answer), pick(answer, ["then", "pause"]), answer.name);
  const signed = read("signed_manifest.json");
  assert.ok(isSigned(signed.document, signed.public_key));
  assert.equal(sha256(JSON.parse(signed.document).manifest), signed.digest);
  console.log(`${sets.flatMap(({ metrics }) => metrics).length} metrics, ${batches.batches.length} batches, ${answers.length} answers`);
}

async function send(url, key) {
  const post = async (path, type, body) => {
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": type, "Content-Encoding": "gzip" };
    const answer = await fetch(url + path, { method: "POST", headers, body: padded(body), redirect: "error" });
    return { status: answer.status, body: await answer.text(), retry_after: answer.headers.get("Retry-After") };
  };
  const { app, metrics } = read("metrics.json");
  const asked = await fetch(`${url}/v1/manifests/${app}`, { headers: { Authorization: `Bearer ${key}` } });
  const tables = (await asked.json()).metrics;
  const columns = metrics.map(({ name, possible }) => ({
    metric: sha256(definition(app, name, tables[name])),
    period: Math.floor((Date.now() / 1000 - 345600) / (parseInt(tables[name].period, 10) * 86400)),
    labels: [],
    reports: possible.map((report) => Buffer.from(report, "hex")),
  }));
  const [kept, taken] = [0, 1].map(() => ({ id: randomBytes(16), columns }));
  for (const [type, body] of [[BINARY, binary(kept)], ["application/json", json(kept)], [BINARY, binary(taken)]]) {
    assert.equal(judge({ to: "batch", ...await post("/v1/batches", type, body) }).then, "counted");
  }
  const withdrawal = Buffer.from(JSON.stringify({ id: taken.id.toString("hex") }));
  assert.equal(judge({ to: "withdrawal", ...await post("/v1/withdrawals", "application/json", withdrawal) }).then, "withdrawn");
  assert.equal(judge({ to: "batch", ...await post("/v1/batches", BINARY, binary(taken)) }).then, "drop");
  console.log(`${columns.length} columns`);
}

const [command, ...given] = process.argv.slice(2);
await { check, send }[command](...given);
