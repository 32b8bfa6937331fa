import { BlockList, isIP, SocketAddress } from "node:net"

/** The addresses that begin with the same bits; with all bits it is one address. */
export interface IpNetwork {
  readonly address: string
  readonly bits: number
}

/** `undefined` where the text is neither an address nor a network in CIDR notation. */
export const networkOf = (text: string): IpNetwork | undefined => {
  const [, address = "", sent] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const family = isIP(address)
  if (family === 0) return undefined
  const max = family === 4 ? 32 : 128
  const bits = sent === undefined ? max : Number(sent)
  return bits > max ? undefined : { address, bits }
}

/** In CIDR notation. */
export const networkText = ({ address, bits }: IpNetwork): string => `${address}/${bits}`

/** Whether an address is in one of the networks; an IPv4 address also as IPv6 writes it. */
export const isWithinNetworks = (networks: ReadonlyArray<IpNetwork>): ((address: string) => boolean) => {
  const list = new BlockList()
  for (const { address, bits } of networks) list.addSubnet(address, bits, familyOf(address))
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address))
}

/** The address in one spelling, an IPv4 address as such where IPv6 writes it; `undefined` where the text is none. */
export const addressOf = (text: string): string | undefined => {
  // a zone is one of the machine that wrote it
  if (isIP(text) === 0 || text.includes("%")) return undefined
  return unmapped(new SocketAddress({ address: text, family: familyOf(text) }).address)
}

/** As it is but for an IPv4 address that a socket has as IPv6. */
export const unmapped = (address: string): string =>
  address.startsWith(mappedPrefix) && address.includes(".") ? address.slice(mappedPrefix.length) : address

const mappedPrefix = "::ffff:"

const familyOf = (address: string): "ipv4" | "ipv6" => (isIP(address) === 4 ? "ipv4" : "ipv6")
