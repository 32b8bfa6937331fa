import { describe, expect, it } from "vitest"
import { addressOf, isWithinNetworks, networkOf, networkText } from "../../src/domain/IpNetwork.ts"

describe("a network", () => {
  it.each([
    ["10.0.0.0/8", "10.0.0.0/8"],
    ["192.0.2.10", "192.0.2.10/32"],
    ["2001:db8::/32", "2001:db8::/32"],
    ["::1", "::1/128"],
    ["0.0.0.0/0", "0.0.0.0/0"]
  ])("is an address, alone or with the number of its first bits: %s", (text, network) => {
    const found = networkOf(text)
    expect(found && networkText(found)).toBe(network)
  })

  it.each([
    "",
    "10.0.0.0/33",
    "::1/129",
    "10.0.0",
    "10.0.0.0/",
    "10.0.0.0/8/8",
    "proxy.example.com",
    "fe80::1%eth0",
    "10.0.0.0/-1"
  ])("is nothing else: %s", (text) => expect(networkOf(text)).toBeUndefined())

  const isWithin = isWithinNetworks(
    ["10.1.2.3/8", "192.0.2.10", "2001:db8::/32"].flatMap((text) => networkOf(text) ?? [])
  )

  it.each(["10.255.0.1", "::ffff:10.255.0.1", "::ffff:aff:1", "192.0.2.10", "2001:db8:ffff::1"])("has %s", (address) =>
    expect(isWithin(address)).toBe(true)
  )

  it.each(["11.0.0.1", "192.0.2.11", "2001:db9::1", "::ffff:11.0.0.1", "", "unknown", "10.0.0"])(
    "has not %s",
    (address) => expect(isWithin(address)).toBe(false)
  )
})

describe("an address", () => {
  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["2001:DB8:0::0001", "2001:db8::1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::FFFF:c000:201", "192.0.2.1"]
  ])("has one spelling: %s", (text, address) => expect(addressOf(text)).toBe(address))

  it.each(["", "unknown", "_hidden", "192.0.2.256", "192.0.2.1:80", "fe80::1%eth0", "example.com"])(
    "is not %s",
    (text) => expect(addressOf(text)).toBeUndefined()
  )
})
