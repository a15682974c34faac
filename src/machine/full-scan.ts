import type { Runtime, SystemSpec } from '../core/profile/system-spec.ts'
import type { QuickScan, Surroundings } from './quick-scan.ts'
import type { ProbeParts } from './probes.ts'
import { defined } from '../base/defined.ts'
import { quickScan, programOf } from './quick-scan.ts'
import { programs } from './known-programs.ts'
import { Probes } from './probes.ts'

/** `settled` resolves when no program of the scan runs any more; the facts are ready before a hanging program has exited. */
type Scan = { spec: SystemSpec; settled: Promise<void> }

/** Scans the machine: a quick scan, and the versions that its programs print, read in parallel. */
export async function fullScan(parts: Surroundings & ProbeParts): Promise<Scan> {
  const probes = new Probes(parts)
  const seen = await quickScan(parts)
  const { spec } = seen
  // The runtimes come first: they take longest and matter most.
  const [runtimes, sudo, os, shell, binaries] = await Promise.all([
    runtimesOf(seen, probes),
    spec.sudoAvailable || maySudo(seen, probes),
    osSaid(spec.os, probes),
    shellSaid(seen, probes),
    versionsOf(spec, probes),
  ])
  return { spec: { ...spec, os, shell, runtimes, binaries, sudoAvailable: sudo }, settled: probes.settled() }
}

async function runtimesOf({ spec, found }: QuickScan, probes: Probes): Promise<SystemSpec['runtimes']> {
  const rows = (Object.keys(spec.runtimes) as Runtime[]).map(async (name) => {
    const said = await questions[name](probes, programOf(name, found)!)
    return said ? [[name, { ...said, ...spec.runtimes[name] }] as const] : []
  })
  return Object.fromEntries((await Promise.all(rows)).flat())
}

/**
 * How to find each runtime's version. If a version manager's shim has no installed version, it fails, and the runtime counts as missing.
 */
const questions: Record<Runtime, (probes: Probes, path: string) => Promise<object | undefined>> = {
  node: (probes, path) => versionSaid(probes, path, '--version'),
  python: pythonSaid,
  ruby: (probes, path) => versionSaid(probes, path, '--version'),
  go: (probes, path) => versionSaid(probes, path, 'version'),
  rust: (probes, path) => versionSaid(probes, path, '--version'),
}

/** Debian's venv module cannot create an environment without ensurepip, which is in another package. */
const pythonQuestion = `
import platform
from importlib.util import find_spec as has
print(platform.python_version(), bool(has("pip")), bool(has("venv") and has("ensurepip")))`

async function pythonSaid(probes: Probes, python: string): Promise<object | undefined> {
  const said = await probes.ask(python, '-c', pythonQuestion)
  if (said === undefined) return {}
  const [, version, pip, venv] = /^(\S+) (True|False) (True|False)$/m.exec(said.text) ?? []
  return version === undefined ? undefined : { version, pip: pip === 'True', venv: venv === 'True' }
}

/** Says whether sudo works without a password; it never asks for one. */
async function maySudo({ found }: QuickScan, probes: Probes): Promise<boolean> {
  const sudo = found.get('sudo')
  return sudo !== undefined && (await probes.ask(sudo, '-n', 'true'))?.code === 0
}

async function osSaid(os: SystemSpec['os'], probes: Probes): Promise<SystemSpec['os']> {
  if (os.name !== 'macOS') return os
  const version = versionIn((await probes.ask('/usr/bin/sw_vers', '-productVersion'))?.text)
  return defined({ ...os, version })
}

/** Shells that can print a version; others would run the argument as a script. */
const speaking = new Set(['bash', 'zsh', 'fish', 'pwsh'])

async function shellSaid({ spec, found }: QuickScan, probes: Probes): Promise<SystemSpec['shell']> {
  const { type } = spec.shell
  const path = found.get(type)
  return path !== undefined && speaking.has(type)
    ? { type, ...(await versionSaid(probes, path, '--version')) }
    : spec.shell
}

async function versionsOf({ binaries }: SystemSpec, probes: Probes): Promise<SystemSpec['binaries']> {
  const rows = Object.entries(binaries).map(async ([name, { path }]) => {
    const how = programs[name]
    return [name, { path, ...(how ? await versionSaid(probes, path, ...how) : {}) }] as const
  })
  return Object.fromEntries(await Promise.all(rows))
}

/** Returns a program's version: {} if it took too long, undefined if it failed. */
async function versionSaid(probes: Probes, path: string, ...how: string[]): Promise<{ version?: string } | undefined> {
  const said = await probes.ask(path, ...how)
  if (said !== undefined && said.code !== 0) return undefined
  const version = versionIn(said?.text)
  return version === undefined ? {} : { version }
}

/** Finds the first version in a text: "git version 2.39.5", "tmux 3.3a", "go version go1.22.1 linux/amd64". */
export function versionIn(text: string | undefined): string | undefined {
  return /(?<![\d.])\d+(?:\.\d+)+[a-z]?(?![a-z])/.exec(text ?? '')?.[0]
}
