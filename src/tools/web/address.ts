import type { BlockList } from 'node:net'

/** What is not on the open network: loopback, private, link-local, shared and reserved ranges. */
const ranges: [string, number, 'ipv4' | 'ipv6'][] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['224.0.0.0', 3, 'ipv4'],
  ['::', 127, 'ipv6'],
  // Addresses of the old kind in new clothes, which may stand for any of those above; those of `::ffff:` are looked at as what they are.
  ['64:ff9b::', 96, 'ipv6'],
  ['2002::', 16, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
]

let list: BlockList | undefined

/** Whether an address belongs to this machine or its own network. */
export function isPrivate(address: string): boolean {
  const { BlockList, isIP } = process.getBuiltinModule('node:net')
  if (!list) {
    list = new BlockList()
    for (const [net, bits, family] of ranges) list.addSubnet(net, bits, family)
  }
  const bare = address.replace(/%.*$/, '')
  const family = isIP(bare)
  // What is no address at all is not trusted either.
  return family === 0 || list.check(bare, family === 6 ? 'ipv6' : 'ipv4')
}
