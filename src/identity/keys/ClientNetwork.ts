import { isIPv6 } from "node:net"

/**
 * What counts as one client: an IPv4 address, also as IPv6 writes it, and of an IPv6 address its network of 64 bits, since a client is
 * given at least as much (RFC 6177). Other text stands for itself.
 */
export const clientNetworkOf = (address: string): string => {
  if (!address.includes(":")) return address
  // the form in which a socket has it, first, since each call asks
  if (address.startsWith(mappedPrefix) && address.includes(".")) return address.slice(mappedPrefix.length)
  return isIPv6(address) ? networkOf(groupsOf(address)) : address
}

const mappedPrefix = "::ffff:"
const groupsOfAddress = 8
const groupsOfNetwork = 4

const networkOf = (groups: ReadonlyArray<number>): string => {
  const [high = 0, low = 0] = groups.slice(6)
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)
  if (isMapped) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".")
  return `${groups
    .slice(0, groupsOfNetwork)
    .map((group) => group.toString(16))
    .join(":")}::/64`
}

const groupsOf = (address: string): ReadonlyArray<number> => {
  const [withoutZone = ""] = address.split("%", 1)
  const [start = "", end = ""] = withoutZone.split("::")
  const [before, after] = [groupsIn(start), groupsIn(end)]
  return [...before, ...Array<number>(groupsOfAddress - before.length - after.length).fill(0), ...after]
}

const groupsIn = (text: string): ReadonlyArray<number> =>
  text === ""
    ? []
    : text.split(":").flatMap((group) => (group.includes(".") ? pairOf(group) : [Number.parseInt(group, 16)]))

/** The last 32 bits may be written as an IPv4 address. */
const pairOf = (dotted: string): ReadonlyArray<number> => {
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split(".").map(Number)
  return [a * 256 + b, c * 256 + d]
}
