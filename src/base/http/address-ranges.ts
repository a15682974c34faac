import { BlockList, isIP } from 'node:net'

/** IP addresses and networks that a person listed, for example `10.0.0.7`, `10.0.0.0/24` and `fd00::/8`. */
export class AddressRanges {
  /** The ranges in their original form. */
  readonly words: readonly string[]
  #list = new BlockList()

  /** Throws an error that names the first word that is not a range. */
  constructor(words: readonly string[]) {
    this.words = words
    for (const word of words) this.#add(word)
  }

  /** Parses ranges that are separated by commas. */
  static read(text: string): AddressRanges {
    return new AddressRanges(text.split(',').map((word) => word.trim()))
  }

  has(address: string): boolean {
    const family = isIP(address)
    return family !== 0 && this.#list.check(address, family === 6 ? 'ipv6' : 'ipv4')
  }

  #add(word: string): void {
    const [, address = '', length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(word) ?? []
    const family = isIP(address)
    const most = family === 6 ? 128 : 32
    const bits = length === undefined ? most : Number(length)
    if (family === 0 || address.includes('%') || bits > most)
      throw new Error(
        `found "${word}", allowed: IP addresses and networks, separated by commas, as in 10.0.0.7,10.1.0.0/16,fd00::/8`,
      )
    if (bits === 0) throw new Error(`"${word}" is every address there is: name those of your proxies`)
    this.#list.addSubnet(address, bits, family === 6 ? 'ipv6' : 'ipv4')
  }
}

/** The addresses of this machine for itself. */
export const loopback = new AddressRanges(['127.0.0.0/8', '::1'])

/** An address in its shortest usual form: an IPv4 address that a socket shows in the form of IPv6 becomes plain. */
export const plainAddress = (address: string): string => address.replace(/^::ffff:(?=[\d.]+$)/i, '')

/** The network that counts as one sender: an IPv4 address, or the 64 bits of an IPv6 network, because its owner can use all of it. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address
  const [before = '', after = ''] = address.split('::')
  const groups = [before, after].map((half) => (half === '' ? [] : half.split(':')))
  const zeros = address.includes('::') ? Array<string>(8 - groups[0]!.length - groups[1]!.length).fill('0') : []
  return [...groups[0]!, ...zeros, ...groups[1]!].slice(0, 4).join(':')
}
