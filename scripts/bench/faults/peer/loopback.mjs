// @ts-check
// Preloaded into the peer, which would listen on every interface: whoever names no host is on loopback.
import { Server } from "node:net"

const { listen } = Server.prototype

/** @typedef {(this: Server, ...args: ReadonlyArray<unknown>) => Server} Listen */

const original = /** @type {Listen} */ (listen)

/** @type {Listen} */
const onLoopback = function (first, ...rest) {
  if (typeof first === "number" && typeof rest[0] !== "string")
    return original.call(this, first, "127.0.0.1", ...rest.filter((one) => typeof one === "function"))
  if (typeof first === "object" && first !== null && "port" in first && first.port !== undefined) {
    return original.call(this, { ...first, host: "127.0.0.1" }, ...rest)
  }
  return original.call(this, first, ...rest)
}

Object.assign(Server.prototype, { listen: onLoopback })
