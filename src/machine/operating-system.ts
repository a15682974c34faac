import type { SystemSpec } from '../core/profile/system-spec.ts'
import { readFile } from 'node:fs/promises'
import { arch, release, type } from 'node:os'
import { defined } from '../base/defined.ts'

type Os = SystemSpec['os']

/** Names the operating system without starting a program. The version of macOS needs `sw_vers`, so it is left out. */
export async function osOf(platform: NodeJS.Platform = process.platform): Promise<Os> {
  if (platform === 'darwin') return { name: 'macOS', arch: arch() }
  if (platform === 'win32') return { name: 'Windows', version: windowsVersion(release()), arch: arch() }
  for (const path of ['/etc/os-release', '/usr/lib/os-release']) {
    const text = await readFile(path, 'utf8').catch(() => undefined)
    if (text !== undefined) return { ...distribution(text), arch: arch() }
  }
  return { name: type(), version: release(), arch: arch() }
}

/** Reads os-release. Rolling distributions have no version, but a code name or build id. */
export function distribution(text: string): Omit<Os, 'arch'> {
  const said = new Map(
    text.split('\n').flatMap((line) => {
      const row = /^([A-Z_]+)=(.*)$/.exec(line.trim())
      return row ? [[row[1]!, unquoted(row[2]!)] as const] : []
    }),
  )
  const name = said.get('NAME') || said.get('ID') || 'Linux'
  const version = said.get('VERSION_ID') || said.get('VERSION_CODENAME') || said.get('BUILD_ID')
  return defined({ name, version: version || undefined })
}

/** Removes shell quotes from a value. */
function unquoted(value: string): string {
  const quoted = /^(["'])(.*)\1$/.exec(value)
  return (quoted ? quoted[2]! : value).replace(/\\(.)/g, '$1')
}

/** Windows 11 still calls itself 10.0. */
export function windowsVersion(kernel: string): string {
  const [major = '', , build = '0'] = kernel.split('.')
  return major === '10' && Number(build) >= 22_000 ? '11' : major
}
