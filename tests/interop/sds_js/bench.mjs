/**
 * What the package costs: processor time of sending and receiving with a log of some length.
 *
 * The workload is of the package's own making and encoding: each message names the two before it
 * and carries a filter of 18,752 bytes that holds all before it. Ids are of 64 hex digits.
 *
 * The log is filled beforehand by one `push` into a `MemLocalHistory` of the package's own, which
 * is given to the channel as the constructor allows; these old messages keep no filter, which
 * saves memory and no work. Unacknowledged messages are sent by the channel itself, before the
 * log is filled, when that costs little.
 */

import {
  ContentMessage,
  DEFAULT_BLOOM_FILTER_OPTIONS,
  DefaultBloomFilter,
  MemLocalHistory,
  Message,
  MessageChannel,
  MessageChannelEvent,
} from "./package.mjs";

const CHANNEL = "c0".repeat(16);
const ME = "a1".repeat(32);
const WRITER = "b2".repeat(32);
const HISTORY = 2;

function contentOf(who, number) {
  return new TextEncoder().encode(`${who}: message number ${number} of the benchmark`);
}

/** `log` messages without a filter and then `count` encoded ones with it, by one writer. */
function workload(log, count, firstLamport) {
  const filter = new DefaultBloomFilter(DEFAULT_BLOOM_FILTER_OPTIONS);
  const old = [];
  const payloads = [];
  let newest = [];
  for (let number = 0; number < log + count; number += 1) {
    const content = contentOf("writer", number);
    const messageId = MessageChannel.getMessageId(content);
    const retrievalHint = Buffer.from(messageId, "hex");
    const lamport = firstLamport + BigInt(number);
    const bloom = number < log ? undefined : filter.toBytes();
    const message = new ContentMessage(
      messageId, CHANNEL, WRITER, newest, lamport, bloom, content, [], retrievalHint,
    );
    if (number < log) {
      old.push(message);
    } else {
      payloads.push(message.encode());
    }
    filter.insert(messageId);
    newest = [...newest, { messageId, retrievalHint, senderId: WRITER }].slice(-HISTORY);
  }
  return { old, payloads };
}

/** A channel with `unacknowledged` messages of its own, and then `old` in its log. */
async function prepared(unacknowledged, old) {
  const history = new MemLocalHistory();
  const channel = new MessageChannel(CHANNEL, ME, { causalHistorySize: HISTORY }, history);
  for (let number = 0; number < unacknowledged; number += 1) {
    await sendOne(channel, contentOf("before", number), () => {});
  }
  const chunk = 10_000; // arguments of one call
  for (let start = 0; start < old.length; start += chunk) {
    history.push(...old.slice(start, start + chunk));
  }
  return channel;
}

async function sendOne(channel, content, transmit) {
  channel.pushOutgoingMessage(content, async (message) => {
    transmit(message);
    return { success: true, retrievalHint: Buffer.from(message.messageId, "hex") };
  });
  await channel.processTasks();
}

/** Run `work` and add the processor time of this process, all its threads, to what it returns. */
async function measured(request, work) {
  const before = process.cpuUsage();
  const outcome = await work();
  const { user, system } = process.cpuUsage(before);
  const { log, count, unacknowledged } = request;
  return { log, count, unacknowledged, cpu_s: (user + system) / 1e6, ...outcome };
}

/** Decode and receive `count` messages in causal order. */
export async function benchReceive({ now, log, count, unacknowledged }) {
  const { old, payloads } = workload(log, count, BigInt(now + unacknowledged));
  const channel = await prepared(unacknowledged, old);
  let delivered = 0;
  channel.addEventListener(MessageChannelEvent.InMessageDelivered, () => {
    delivered += 1;
  });
  return measured({ log, count, unacknowledged }, async () => {
    for (const payload of payloads) {
      const message = Message.decode(payload);
      channel.pushIncomingMessage(message, Buffer.from(message.messageId, "hex"));
      await channel.processTasks();
    }
    const bytes = payloads.reduce((sum, payload) => sum + payload.length, 0);
    return { done: delivered, wire_bytes: bytes };
  });
}

/** Send and encode `count` messages. */
export async function benchSend({ now, log, count, unacknowledged }) {
  const { old } = workload(log, 0, BigInt(now + unacknowledged));
  const channel = await prepared(unacknowledged, old);
  return measured({ log, count, unacknowledged }, async () => {
    let bytes = 0;
    let sent = 0;
    for (let number = 0; number < count; number += 1) {
      await sendOne(channel, contentOf("me", number), (message) => {
        bytes += message.encode().length;
        sent += 1;
      });
    }
    return { done: sent, wire_bytes: bytes };
  });
}
