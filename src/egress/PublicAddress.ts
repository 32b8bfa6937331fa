import { BlockList, isIP } from "node:net"

/** Whether the address is one of the public internet: not of this host, a private network, a link or a cloud's metadata. */
export const isPublicAddress = (address: string): boolean => {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, "ipv4")
    case 6:
      return globalUnicast.check(address, "ipv6") && !special.check(address, "ipv6")
    default:
      return false
  }
}

export const isLoopbackAddress = (address: string): boolean =>
  isIP(address) === 0 ? false : loopback.check(address, isIP(address) === 4 ? "ipv4" : "ipv6")

const listOf = (subnets: ReadonlyArray<readonly [network: string, bits: number]>): BlockList => {
  const list = new BlockList()
  for (const [network, bits] of subnets) list.addSubnet(network, bits, isIP(network) === 4 ? "ipv4" : "ipv6")
  return list
}

const loopback = listOf([
  ["127.0.0.0", 8],
  ["::1", 128]
])

/** Everything else of IPv6, mapped and translated IPv4 addresses among it, is no public address by itself. */
const globalUnicast = listOf([["2000::", 3]])

/** The IANA registries of special-purpose addresses, multicast, and the metadata address of Azure. */
const special = listOf([
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20]
])
