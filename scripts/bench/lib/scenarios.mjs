// @ts-check
// What is asked, and how often.
const kilobyte = 1024
const plain = "mock;size=1000"
const paced = "mock;ttfb=20;chunks=50;gap=10;size=24"

/**
 * `connections` of a closed loop, or `perSecond` of an open one; `bytes` of a request; `mock` tells the provider what to do.
 *
 * @typedef {{ about: string, connections?: number, perSecond?: number, bytes: number, stream: boolean, mock: string }} Scenario
 */

/** @satisfies {Record<string, Scenario>} */
export const scenarios = {
  s1: { about: "2 KB, one after the other", connections: 1, bytes: 2 * kilobyte, stream: false, mock: plain },
  c64: { about: "2 KB, 64 connections", connections: 64, bytes: 2 * kilobyte, stream: false, mock: plain },
  c64b20: { about: "20 KB, 64 connections", connections: 64, bytes: 20 * kilobyte, stream: false, mock: plain },
  c64b200: { about: "200 KB, 32 connections", connections: 32, bytes: 200 * kilobyte, stream: false, mock: plain },
  pace: {
    about: "20 streams/s of 50 chunks, 10 ms apart",
    perSecond: 20,
    bytes: 2 * kilobyte,
    stream: true,
    mock: paced
  },
  pace60: {
    about: "60 streams/s of 50 chunks, 10 ms apart",
    perSecond: 60,
    bytes: 2 * kilobyte,
    stream: true,
    mock: paced
  },
  fire: {
    about: "streams of 200 chunks, back to back",
    connections: 16,
    bytes: 2 * kilobyte,
    stream: true,
    mock: "mock;chunks=200;size=24"
  }
}

const sentence = 'The quick brown fox jumps over the lazy dog. "quoted" and\\n a new line '
const maxMessageChars = 1_500

/**
 * A conversation of about `bytes`, with the fields that most clients set.
 *
 * @param {Pick<Scenario, "bytes" | "mock" | "stream">} scenario
 * @param {string} model
 */
export const bodyOf = ({ bytes, mock, stream }, model) => {
  const messages = [{ role: "system", content: `You are a helpful assistant. ${mock}` }]
  for (let left = bytes - 300; left > 0; left -= maxMessageChars + 40) {
    const length = Math.min(left, maxMessageChars)
    const content = sentence.repeat(Math.ceil(length / sentence.length)).slice(0, length)
    messages.push({ role: messages.length % 2 === 1 ? "user" : "assistant", content })
  }
  return JSON.stringify({ model, stream, temperature: 0.7, max_tokens: 256, messages })
}
