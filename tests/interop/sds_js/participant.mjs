/**
 * One participant: a `MessageChannel`, what it sent and what it announced.
 *
 * Retrieval hints come from the transport: here the hint of a message is the bytes of its id.
 */

import { MemLocalHistory, Message, MessageChannel, MessageChannelEvent } from "./package.mjs";

/** The package announces these two under other names than its own enumeration gives them. */
const REALLY_NAMED = ["RepairRequestQueued", "RepairResponseQueued"];

function hintOf(messageId) {
  return /^[0-9a-f]{64}$/.test(messageId) ? Buffer.from(messageId, "hex") : undefined;
}

/** An event as plain values: whom it concerns, and the one number it carries, if any. */
function described(event, detail) {
  if (typeof detail === "string") {
    return { event, message_ids: [detail] };
  }
  if (Array.isArray(detail)) {
    return { event, message_ids: detail.map(({ messageId }) => messageId) };
  }
  if (detail.error) {
    return { event, message_ids: [], error: String(detail.error) };
  }
  return {
    event,
    message_ids: detail.messageIds ?? [detail.messageId],
    number: detail.count ?? detail.tReq ?? detail.tResp,
  };
}

export class Participant {
  #channel;
  /** The package's own kind of log, made here so that we can read it. */
  #history = new MemLocalHistory();
  #events = [];
  #sent = [];

  constructor(participantId, channelId, options) {
    this.#channel = new MessageChannel(channelId, participantId, options, this.#history);
    for (const event of [...Object.values(MessageChannelEvent), ...REALLY_NAMED]) {
      this.#channel.addEventListener(event, ({ detail }) => {
        this.#events.push(described(event, detail));
      });
    }
  }

  /** What was sent (base64) and announced since this was last asked. */
  takeOutcome() {
    const outcome = { sent: this.#sent, events: this.#events };
    this.#sent = [];
    this.#events = [];
    return outcome;
  }

  async send(content) {
    this.#channel.pushOutgoingMessage(content, async (message) => {
      this.#transmit(message);
      return { success: true, retrievalHint: hintOf(message.messageId) };
    });
    await this.#channel.processTasks();
  }

  /** Send everything again that is not surely acknowledged: the same messages, by their content. */
  async resend() {
    const { unacknowledged, possiblyAcknowledged } = this.#channel.sweepOutgoingBuffer();
    for (const { content } of [...unacknowledged, ...possiblyAcknowledged]) {
      await this.send(content);
    }
  }

  async sendEphemeral(content) {
    await this.#channel.pushOutgoingEphemeralMessage(content, async (message) =>
      this.#transmit(message),
    );
    await this.#channel.processTasks();
  }

  async sendSync() {
    await this.#channel.pushOutgoingSyncMessage(async (message) => this.#transmit(message));
  }

  /** Take in the bytes of a message; whether they were one. */
  async receive(payload) {
    const message = Message.decode(payload);
    if (message === undefined) {
      return false;
    }
    this.#channel.pushIncomingMessage(message, hintOf(message.messageId));
    await this.#channel.processTasks();
    return true;
  }

  /** The periodic sweeps of the specification: deliver what is complete, answer what is due. */
  async sweep() {
    this.#channel.sweepIncomingBuffer();
    await this.#channel.sweepRepairIncomingBuffer(async (message) => this.#transmit(message));
  }

  /** Own messages that nobody has acknowledged yet, surely and possibly. */
  outgoing() {
    const { unacknowledged, possiblyAcknowledged } = this.#channel.sweepOutgoingBuffer();
    return {
      unacknowledged: unacknowledged.map(({ messageId }) => messageId),
      possibly_acknowledged: possiblyAcknowledged.map(({ messageId }) => messageId),
    };
  }

  /** The local log, oldest first. */
  log() {
    return this.#history
      .slice()
      .map(({ lamportTimestamp, messageId }) => [Number(lamportTimestamp), messageId]);
  }

  #transmit(message) {
    this.#sent.push(Buffer.from(message.encode()).toString("base64"));
    return true;
  }
}
