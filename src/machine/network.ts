import type { SystemSpec } from '../core/work/system-spec.ts'
import { readFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'

type Env = Readonly<Record<string, string | undefined>>

/** Whether there is a way out, by what the system knows of itself: nobody is called. */
export async function networkOf(env: Env): Promise<SystemSpec['network']> {
  const proxy = proxyIn(env)
  const hasInternet = proxy !== undefined || (await hasRoute())
  return { hasInternet, ...(proxy === undefined ? {} : { proxy }) }
}

const variables = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY', 'http_proxy', 'HTTP_PROXY']

/** Its password is for the programs that use it, and goes into no prompt. */
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

/** A default route in the kernel's own tables that goes over more than the loopback. */
export function leadsOut(four: string, six: string): boolean {
  const rows = (text: string) => text.split('\n').map((line) => line.trim().split(/\s+/))
  const out4 = rows(four).some(([device, to, , flags]) => to === '00000000' && device !== 'lo' && isUp(flags))
  const out6 = rows(six).some((row) => /^0{32}$/.test(row[0]!) && row[1] === '00' && row[9] !== 'lo' && isUp(row[8]))
  return out4 || out6
}

/** Up, and not one that only says no. */
const isUp = (flags = '0') => (parseInt(flags, 16) & 0x201) === 1

/** Where the system shows no routes: an address that others can reach. */
function hasAddress(): boolean {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return addresses.some(({ internal, address }) => !internal && !/^(169\.254\.|fe80:)/i.test(address))
}
