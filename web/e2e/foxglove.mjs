// An exported MCAP file as Foxglove meets it: read with Foxglove's own reader and held against its published schemas.
// usage: node foxglove.mjs FILE.mcap
// Prints topic, schema and number of messages; anything that does not fit ends it with an error.
import assert from "node:assert/strict";
import { open } from "node:fs/promises";
import * as published from "@foxglove/schemas/jsonschema.js";
import { McapIndexedReader } from "@mcap/core";
import { loadDecompressHandlers } from "@mcap/support";
import { Ajv } from "ajv";

const file = await open(process.argv[2]);
const readable = {
  size: async () => BigInt((await file.stat()).size),
  read: async (offset, length) => {
    const { buffer, bytesRead } = await file.read(new Uint8Array(Number(length)), 0, Number(length), Number(offset));
    assert.equal(bytesRead, Number(length));
    return buffer;
  },
};
const reader = await McapIndexedReader.Initialize({ readable, decompressHandlers: await loadDecompressHandlers() });

/** Our schema says nothing that the published one does not say: the same names with the same types. */
function within(ours, theirs, path) {
  const type = theirs.type ?? (theirs.oneOf ? "integer" : undefined);
  assert.equal(ours.type, type, `type of ${path}`);
  for (const [name, property] of Object.entries(ours.properties ?? {})) {
    assert.ok(theirs.properties?.[name], `${path}.${name} is published`);
    within(property, theirs.properties[name], `${path}.${name}`);
  }
  if (ours.items) within(ours.items, theirs.items, `${path}[]`);
}

/** A message has no property that the published schema does not name. */
function known(value, schema, path) {
  if (Array.isArray(value)) value.forEach((item) => known(item, schema.items, `${path}[]`));
  else if (value !== null && typeof value === "object") {
    for (const [name, inner] of Object.entries(value)) {
      assert.ok(schema.properties?.[name], `${path}.${name} is published`);
      known(inner, schema.properties[name], `${path}.${name}`);
    }
  }
}

const ajv = new Ajv({ strict: false, allErrors: true });
const checks = new Map();
for (const [id, record] of reader.schemasById) {
  assert.equal(record.encoding, "jsonschema");
  const schema = JSON.parse(new TextDecoder().decode(record.data));
  assert.equal(schema.type, "object");
  if (!record.name.startsWith("foxglove.")) {
    checks.set(id, { schema, valid: ajv.compile(schema) });
    continue;
  }
  const theirs = published[record.name.slice("foxglove.".length)];
  assert.ok(theirs, `${record.name} is published`);
  assert.equal(theirs.title, record.name);
  within(schema, theirs, record.name);
  checks.set(id, { schema: theirs, valid: ajv.compile(theirs) });
}
const counts = new Map();
let last = 0n;
for await (const message of reader.readMessages()) {
  const channel = reader.channelsById.get(message.channelId);
  assert.equal(channel.messageEncoding, "json");
  assert.ok(message.logTime >= last, "messages come in the order of time");
  last = message.logTime;
  const { schema, valid } = checks.get(channel.schemaId);
  const value = JSON.parse(new TextDecoder().decode(message.data));
  assert.ok(valid(value), `${channel.topic}: ${ajv.errorsText(valid.errors)}`);
  known(value, schema, channel.topic);
  for (const entity of value.entities ?? []) {
    const { sec, nsec } = entity.timestamp;
    assert.equal(BigInt(sec) * 1000000000n + BigInt(nsec), message.logTime, "an entity is of the time of its message");
    assert.ok(entity.lines.length + entity.cubes.length > 0, `${channel.topic} shows something`);
    if (channel.topic.endsWith("/vehicles")) {
      assert.match(entity.id, /^\d+$/, "a vehicle is an entity of its own, by its number");
      assert.deepEqual(entity.metadata.map((pair) => pair.key), ["role", "kind", "misses"]);
      assert.equal(entity.cubes.length, 1);
    }
    for (const cube of entity.cubes) {
      const { x, y, z, w } = cube.pose.orientation;
      assert.ok(Math.abs(Math.hypot(x, y, z, w) - 1) < 1e-9, "an orientation is a unit quaternion");
      assert.ok(cube.size.x > 0 && cube.size.y > 0 && cube.size.z > 0);
    }
    for (const line of entity.lines) assert.ok(line.points.length > 1 && [0, 1].includes(line.type));
  }
  const name = `${channel.topic} ${reader.schemasById.get(channel.schemaId).name}`;
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
await file.close();
for (const [name, count] of [...counts].sort()) console.log(`${name} ${count}`);
