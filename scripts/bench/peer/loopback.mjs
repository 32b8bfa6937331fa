// Preloaded into the peer, which would listen on every interface: whoever names no host is on loopback.
import { Server } from "node:net"

const { listen } = Server.prototype

Server.prototype.listen = function (...args) {
  const [first, ...rest] = args
  if (typeof first === "number" && typeof rest[0] !== "string")
    return listen.call(this, first, "127.0.0.1", ...callback(rest))
  if (typeof first === "object" && first?.port !== undefined) {
    return listen.call(this, { ...first, host: "127.0.0.1" }, ...rest)
  }
  return listen.apply(this, args)
}

const callback = (args) => args.filter((one) => typeof one === "function")
