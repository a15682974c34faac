import type { Env } from '../base/env.ts'
import type { SystemSpec } from '../core/profile/system-spec.ts'
import { readFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { defined } from '../base/defined.ts'

/** Finds out whether the machine has a route to other networks, without contacting a server. */
export async function networkOf(env: Env): Promise<SystemSpec['network']> {
  const proxy = proxyIn(env)
  const hasInternet = proxy !== undefined || (await hasRoute())
  return defined({ hasInternet, proxy })
}

const variables = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY', 'http_proxy', 'HTTP_PROXY']

/** Returns the proxy without its password, which must not go into a prompt. */
export function proxyIn(env: Env): string | undefined {
  const found = variables.map((name) => env[name]).find((value) => value)
  if (found === undefined) return undefined
  const place = found.replace(/^(\w+:\/\/)?.*@/s, '$1')
  return /^[\w.:/[\]-]+$/.test(place) ? place : 'set'
}

async function hasRoute(): Promise<boolean> {
  const [four, six] = await Promise.all(
    ['/proc/net/route', '/proc/net/ipv6_route'].map((path) => readFile(path, 'utf8').catch(() => undefined)),
  )
  return four === undefined ? hasAddress() : leadsOut(four, six ?? '')
}

/** Whether the kernel's tables have a default route that is not the loopback. */
export function leadsOut(four: string, six: string): boolean {
  const rows = (text: string) => text.split('\n').map((line) => line.trim().split(/\s+/))
  const out4 = rows(four).some(([device, to, , flags]) => to === '00000000' && device !== 'lo' && isUp(flags))
  const out6 = rows(six).some((row) => /^0{32}$/.test(row[0]!) && row[1] === '00' && row[9] !== 'lo' && isUp(row[8]))
  return out4 || out6
}

/** Says whether a route is up and does not reject packets. */
const isUp = (flags = '0') => (parseInt(flags, 16) & 0x201) === 1

/** Whether the machine has an address that is not local: the only evidence of a network if the system shows no routes. */
function hasAddress(): boolean {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return addresses.some(({ internal, address }) => !internal && !/^(169\.254\.|fe80:)/i.test(address))
}
