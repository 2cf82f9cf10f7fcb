/** What the package reads in the bytes of a message, as plain values. */

import { Message, isContentMessage, isEphemeralMessage, isSyncMessage } from "./package.mjs";

function base64(data) {
  return data === undefined ? null : Buffer.from(data).toString("base64");
}

function entry({ messageId, retrievalHint, senderId }) {
  return {
    message_id: messageId,
    retrieval_hint: base64(retrievalHint),
    sender_id: senderId ?? null,
  };
}

function kind(message) {
  if (isContentMessage(message)) return "content";
  if (isEphemeralMessage(message)) return "ephemeral";
  return isSyncMessage(message) ? "sync" : null;
}

/** The message in `payload`, or null where the package refuses it. */
export function described(payload) {
  const message = Message.decode(payload);
  if (message === undefined) {
    return null;
  }
  return {
    kind: kind(message),
    sender_id: message.senderId,
    message_id: message.messageId,
    channel_id: message.channelId,
    lamport: message.lamportTimestamp === undefined ? null : Number(message.lamportTimestamp),
    causal_history: message.causalHistory.map(entry),
    bloom_filter: base64(message.bloomFilter),
    repair_request: message.repairRequest.map(entry),
    content: base64(message.content),
    encoded_again: base64(message.encode()),
  };
}
