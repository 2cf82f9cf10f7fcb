/**
 * The package, from the directory named on the command line (see install.py).
 *
 * It is imported by its files, because `MemLocalHistory`, the log that every channel makes for
 * itself, is not among its exports, and the benchmarks fill one beforehand.
 */

import "./virtual.mjs";

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const HOME = join(process.argv[2], "node_modules", "@waku", "sds");

async function load(...path) {
  return import(pathToFileURL(join(HOME, "dist", ...path)));
}

export const { version } = JSON.parse(readFileSync(join(HOME, "package.json"), "utf8"));
export const {
  ContentMessage,
  Message,
  MessageChannel,
  MessageChannelEvent,
  isContentMessage,
  isEphemeralMessage,
  isSyncMessage,
} = await load("index.js");
export const { DefaultBloomFilter } = await load("bloom_filter", "bloom.js");
export const { DEFAULT_BLOOM_FILTER_OPTIONS } = await load("message_channel", "message_channel.js");
export const { MemLocalHistory } = await load("message_channel", "mem_local_history.js");
