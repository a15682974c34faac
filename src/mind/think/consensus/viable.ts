import type { Runtime, SystemSpec } from '../../../core/work/system-spec.ts'
import type { Need } from './needs.ts'
import { namesOf, needIn } from './needs.ts'

/** The machine as it is known: the spec, and programs found besides. */
export type Machine = { spec: SystemSpec; found: ReadonlySet<string> }

/** What is missing and cannot be had, and what would first be installed, each in words; two empty lists: it can begin. */
export type Fit = { missing: string[]; installs: string[] }

/** What an approach needs against what is there; only what is known to be missing speaks against it. */
export function fitOf(needs: readonly string[], machine: Machine): Fit {
  const ones = needs.map(needIn).map((need): One => (need ? fit(need, machine) : {}))
  const reasons = new Map<string, Set<string>>()
  for (const { missing, why } of ones) if (missing) reasons.set(why!, (reasons.get(why!) ?? new Set()).add(missing))
  return {
    missing: [...reasons].map(([why, what]) => `${[...what].join(' and ')}: ${why}`),
    installs: [...new Set(ones.flatMap(({ installs }) => installs ?? []))],
  }
}

/** Of one need: nothing where it is met. */
type One =
  { missing?: undefined; why?: undefined; installs?: string } | { missing: string; why: string; installs?: undefined }

function fit(need: Need, { spec, found }: Machine): One {
  switch (need.kind) {
    case 'network':
      return spec.network.hasInternet ? {} : { missing: 'the network', why: 'there is none' }
    case 'root':
      return spec.sudoAvailable ? {} : { missing: 'root', why: 'not without a password' }
    case 'system':
      return need.name === systemOf(spec) ? {} : { missing: need.name, why: `this is ${spec.os.name}` }
    case 'package':
      return packaged(need.name, need.from, { spec, found })
    case 'program': {
      const here = need.any.find((name) => isThere(name, { spec, found }))
      if (here === undefined) return installed(need.name, spec)
      const version = versionOf(here, spec)
      const old = need.atLeast !== undefined && version !== undefined && isOlder(version, need.atLeast)
      return old ? { missing: `${need.name} ${need.atLeast}`, why: `${version} is here` } : {}
    }
  }
}

/** Who fetches a package for a language, and which program that takes. */
const fetchers = new Map(
  Object.entries({
    pip: 'pip',
    pip3: 'pip',
    pipx: 'pip',
    uv: 'uv',
    npm: 'npm',
    npx: 'npm',
    pnpm: 'pnpm',
    yarn: 'yarn',
    gem: 'ruby',
    cargo: 'rust',
    go: 'go',
    docker: 'docker',
  }),
)

function packaged(name: string, from: string, machine: Machine): One {
  const fetcher = fetchers.get(from)
  // A package of the system is there when its program is, and any package manager may have it.
  if (fetcher === undefined)
    return namesOf(name).some((one) => isThere(one, machine)) ? {} : installed(name, machine.spec)
  if (!isThere(fetcher, machine)) return { missing: fetcher, why: 'not installed' }
  if (!machine.spec.network.hasInternet) return { missing: name, why: `no network to fetch it with ${from}` }
  return { installs: `${name} with ${from}` }
}

/** Those that install for one person alone. */
const rootless = new Set(['brew', 'nix', 'scoop', 'winget'])

function installed(name: string, { packageManagers, sudoAvailable, network }: SystemSpec): One {
  const manager = packageManagers.find((one) => rootless.has(one) || sudoAvailable)
  if (packageManagers.length === 0) return { missing: name, why: 'not installed' }
  if (!network.hasInternet) return { missing: name, why: 'not installed, and no network to fetch it' }
  return manager === undefined
    ? { missing: name, why: `not installed, and ${packageManagers[0]} needs root` }
    : { installs: `${name} with ${manager}` }
}

function isThere(name: string, { spec, found }: Machine): boolean {
  const { runtimes, binaries, packageManagers, shell } = spec
  const { node, python } = runtimes
  // A new environment brings its own pip.
  if (name === 'pip' && python && (python.pip !== false || python.venv === true)) return true
  if (name === 'npm' && node?.npm !== undefined) return true
  const listed = Object.hasOwn(runtimes, name) || Object.hasOwn(binaries, name) || packageManagers.includes(name)
  return listed || found.has(name) || name === shell.type || name === 'sh'
}

function versionOf(name: string, { runtimes, binaries }: SystemSpec): string | undefined {
  return (Object.hasOwn(runtimes, name) ? runtimes[name as Runtime] : binaries[name])?.version
}

function isOlder(version: string, wanted: string): boolean {
  const [here, there] = [version, wanted].map((text) => text.split('.').map((part) => parseInt(part, 10) || 0))
  for (const [at, part] of there!.entries()) if ((here![at] ?? 0) !== part) return (here![at] ?? 0) < part
  return false
}

/** Everything that is neither of the two is a Linux here. */
function systemOf({ os }: SystemSpec): string {
  if (/^macos|^darwin/i.test(os.name)) return 'macos'
  return /^windows/i.test(os.name) ? 'windows' : 'linux'
}
