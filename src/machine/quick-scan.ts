import type { Env } from '../base/env.ts'
import type { Clock } from '../base/time/clock.ts'
import type { Runtime, SystemSpec } from '../core/profile/system-spec.ts'
import { readFile, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { packageManagers, programs, runtimePrograms, wantedPrograms } from './known-programs.ts'
import { networkOf } from './network.ts'
import { osOf } from './operating-system.ts'
import { programsOn, stubs } from './program-search.ts'

export type Surroundings = {
  env: Env
  clock: Clock
  /** Whether termaite runs as root. */
  root?: boolean
}

/** The facts that can be found in a few milliseconds without starting a program, and the path of each program. */
export type QuickScan = { spec: SystemSpec; found: ReadonlyMap<string, string> }

export async function quickScan({ env, clock, root = process.geteuid?.() === 0 }: Surroundings): Promise<QuickScan> {
  const [os, network, found] = await Promise.all([
    osOf(),
    networkOf(env),
    programsOn(env.PATH ?? '', wantedPrograms, clock),
  ])
  for (const [name, path] of found) if (stubs().has(path)) found.delete(name)
  const managers = Object.keys(packageManagers).filter((name) => found.has(name))
  const spec: SystemSpec = {
    os,
    shell: { type: shellOf(env.SHELL, found) },
    runtimes: await runtimesIn(found),
    binaries: Object.fromEntries(
      Object.keys(programs).flatMap((name) => (found.has(name) ? [[name, { path: found.get(name)! }]] : [])),
    ),
    packageManagers: managers.map((name) => packageManagers[name]!),
    sudoAvailable: root,
    network,
  }
  return { spec, found }
}

function shellOf(own: string | undefined, found: ReadonlyMap<string, string>): string {
  if (own) return basename(own)
  if (process.platform === 'win32') return 'powershell'
  return ['bash', 'zsh', 'fish'].find((name) => found.has(name)) ?? 'sh'
}

async function runtimesIn(found: ReadonlyMap<string, string>): Promise<SystemSpec['runtimes']> {
  const there = (Object.keys(runtimePrograms) as Runtime[]).filter((name) => programOf(name, found) !== undefined)
  const runtimes: SystemSpec['runtimes'] = Object.fromEntries(there.map((name) => [name, {}]))
  const npm = runtimes.node && (await npmVersion(found.get('npm')))
  return npm === undefined ? runtimes : { ...runtimes, node: { npm } }
}

export function programOf(runtime: Runtime, found: ReadonlyMap<string, string>): string | undefined {
  return runtimePrograms[runtime].map((name) => found.get(name)).find((path) => path !== undefined)
}

/** Reads npm's version from its package.json: npm itself takes a third of a second to print it. */
async function npmVersion(npm: string | undefined): Promise<string | undefined> {
  try {
    const code = await realpath(npm!)
    const { name, version } = JSON.parse(await readFile(join(dirname(code), '..', 'package.json'), 'utf8'))
    return name === 'npm' && typeof version === 'string' ? version : undefined
  } catch {
    return undefined
  }
}
