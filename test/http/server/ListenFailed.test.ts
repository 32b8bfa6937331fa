import { expect, it } from "vitest"
import { ListenFailed } from "../../../src/http/server/Server.ts"

it.each([
  ["EADDRINUSE", 8080, "the address 10.0.0.1:8080 is in use by another process: stop that one, or set another PORT."],
  [
    "ENOTFOUND",
    8080,
    "the address 10.0.0.1:8080 has a name that is not known here: set HOST to an address of this machine."
  ],
  [
    "EAI_AGAIN",
    8080,
    "the address 10.0.0.1:8080 has a name that is not known here: set HOST to an address of this machine."
  ],
  [
    "EADDRNOTAVAIL",
    8080,
    "the address 10.0.0.1:8080 is not one of this machine: set HOST to one that is, or to 0.0.0.0 for all."
  ],
  [
    "EACCES",
    443,
    "the address 10.0.0.1:443 is not permitted to this user: set PORT to 1024 or more, or permit lower ports."
  ],
  ["EOTHER", 8080, "the address 10.0.0.1:8080 cannot be listened on (EOTHER)."]
])("a start that cannot listen says what to change: %s", (reason, port, message) => {
  expect(new ListenFailed({ host: "10.0.0.1", port, reason }).message).toBe(message)
})

it("a start that cannot listen on an IPv6 address names it in brackets", () => {
  expect(new ListenFailed({ host: "::1", port: 8080, reason: "EOTHER" }).message).toBe(
    "the address [::1]:8080 cannot be listened on (EOTHER)."
  )
})
