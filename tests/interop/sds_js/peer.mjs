/**
 * `@waku/sds` in a process of its own: one JSON request a line in, one JSON reply a line out.
 *
 * Usage: node peer.mjs DIRECTORY, where `npm ci` was run in DIRECTORY with our package-lock.json.
 *
 * A request is {"op", "now", ...}; `now` is the time in milliseconds since the epoch, and the only
 * time there is. A reply is {"result": ...}, or {"error": "..."} and the process goes on. Bytes are
 * base64. The process ends when its input does.
 */

import { version } from "./package.mjs";

import { createInterface } from "node:readline";

import { benchReceive, benchSend } from "./bench.mjs";
import { described } from "./decoded.mjs";
import { Participant } from "./participant.mjs";
import { setNow, setSeed } from "./virtual.mjs";

const participants = new Map();

function bytes(base64) {
  return new Uint8Array(Buffer.from(base64, "base64"));
}

/** Let a participant do something; the reply is what it sent and announced. */
async function act(name, action) {
  const participant = participants.get(name);
  const accepted = await action(participant);
  return { ...participant.takeOutcome(), accepted: accepted ?? true };
}

const OPERATIONS = {
  versions: () => ({ package: version, node: process.versions.node }),
  reset: ({ seed }) => {
    setSeed(seed);
    participants.clear();
    return null;
  },
  join: ({ name, id, channel, options }) => {
    participants.set(name, new Participant(id, channel, options));
    return null;
  },
  send: ({ name, content }) => act(name, (one) => one.send(bytes(content))),
  send_ephemeral: ({ name, content }) => act(name, (one) => one.sendEphemeral(bytes(content))),
  send_sync: ({ name }) => act(name, (one) => one.sendSync()),
  resend: ({ name }) => act(name, (one) => one.resend()),
  receive: ({ name, payload }) => act(name, (one) => one.receive(bytes(payload))),
  sweep: ({ name }) => act(name, (one) => one.sweep()),
  log: ({ name }) => participants.get(name).log(),
  outgoing: ({ name }) => participants.get(name).outgoing(),
  decode: ({ payload }) => described(bytes(payload)),
  bench_receive: benchReceive,
  bench_send: benchSend,
};

async function answer(line) {
  try {
    const request = JSON.parse(line);
    setNow(request.now ?? 0);
    return { result: await OPERATIONS[request.op](request) };
  } catch (error) {
    return { error: String(error?.stack ?? error) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await answer(line))}\n`);
}
