import type { Runtime, SystemSpec } from '../../core/profile/system-spec.ts'
import { defined } from '../../base/defined.ts'

/** The machine spec, and further programs that were found. */
export type KnownMachine = { spec: SystemSpec; found: ReadonlySet<string> }

/** Needs that cannot be met, and programs that must be installed first, each as text; both are empty if the work can begin. */
type MachineFit = { missing: string[]; installs: string[] }

/** Compares the needs of an approach with the machine; only things that are known to be missing count against it. */
export function machineFit(needs: readonly string[], machine: KnownMachine): MachineFit {
  const ones = needs.map(parseNeed).map((need): NeedFit => (need ? fitOf(need, machine) : {}))
  const reasons = new Map<string, Set<string>>()
  for (const { missing, why } of ones) if (missing) reasons.set(why, (reasons.get(why) ?? new Set()).add(missing))
  return {
    missing: [...reasons].map(([why, what]) => `${[...what].join(' and ')}: ${why}`),
    installs: [...new Set(ones.flatMap(({ installs }) => installs ?? []))],
  }
}

/** How one need fits; empty if it is met. */
type NeedFit =
  | { missing?: undefined; why?: undefined; installs?: string }
  // The need is not met.
  | { missing: string; why: string; installs?: undefined }

function fitOf(need: Need, { spec, found }: KnownMachine): NeedFit {
  switch (need.kind) {
    case 'network':
      return spec.network.hasInternet ? {} : { missing: 'the network', why: 'it is not reachable' }
    case 'root':
      return spec.sudoAvailable ? {} : { missing: 'root', why: 'not without a password' }
    case 'system':
      return need.name === systemOf(spec) ? {} : { missing: need.name, why: `this is ${spec.os.name}` }
    case 'package':
      return packageFit(need.name, need.from, { spec, found })
    case 'program': {
      const here = need.any.find((name) => isInstalled(name, { spec, found }))
      if (here === undefined) return installFit(need.name, spec)
      const version = versionOf(here, spec)
      const old = need.atLeast !== undefined && version !== undefined && isOlder(version, need.atLeast)
      return old ? { missing: `${need.name} ${need.atLeast}`, why: `${version} is here` } : {}
    }
  }
}

/** The program that each package source needs. */
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

function packageFit(name: string, from: string, machine: KnownMachine): NeedFit {
  const fetcher = fetchers.get(from)
  // A system package counts as installed if its program is, and any package manager may have it.
  if (fetcher === undefined)
    return executablesOf(name).some((one) => isInstalled(one, machine)) ? {} : installFit(name, machine.spec)
  if (!isInstalled(fetcher, machine)) return { missing: fetcher, why: 'not installed' }
  if (!machine.spec.network.hasInternet) return { missing: name, why: `no network to fetch it with ${from}` }
  return { installs: `${name} with ${from}` }
}

/** Package managers that need no root. */
const rootless = new Set(['brew', 'nix', 'scoop', 'winget'])

function installFit(name: string, { packageManagers, sudoAvailable, network }: SystemSpec): NeedFit {
  const manager = packageManagers.find((one) => rootless.has(one) || sudoAvailable)
  if (packageManagers.length === 0) return { missing: name, why: 'not installed' }
  if (!network.hasInternet) return { missing: name, why: 'not installed, and no network to fetch it' }
  return manager === undefined
    ? { missing: name, why: `not installed, and ${packageManagers[0]} needs root` }
    : { installs: `${name} with ${manager}` }
}

function isInstalled(name: string, { spec, found }: KnownMachine): boolean {
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
  const [here, wantedParts] = [version, wanted].map((text) => text.split('.').map((part) => parseInt(part, 10) || 0))
  for (const [at, part] of wantedParts!.entries()) if ((here![at] ?? 0) !== part) return (here![at] ?? 0) < part
  return false
}

/** Every system that is neither macOS nor Windows counts as Linux. */
function systemOf({ os }: SystemSpec): string {
  if (/^macos|^darwin/i.test(os.name)) return 'macos'
  return /^windows/i.test(os.name) ? 'windows' : 'linux'
}

/** A need of an approach, in a form that a program can check. */
type Need =
  | { kind: 'network' }
  | { kind: 'root' }
  | { kind: 'system'; name: 'linux' | 'macos' | 'windows' }
  /** Any of the names in `any` is enough. */
  | { kind: 'program'; name: string; any: readonly string[]; atLeast?: string }
  | { kind: 'package'; name: string; from: string }

const plain = new Map<string, Need>(
  Object.entries({
    network: { kind: 'network' },
    internet: { kind: 'network' },
    root: { kind: 'root' },
    sudo: { kind: 'root' },
    linux: { kind: 'system', name: 'linux' },
    macos: { kind: 'system', name: 'macos' },
    windows: { kind: 'system', name: 'windows' },
  }),
)

/** The executables of programs that are usually called by another name. */
const called = new Map<string, readonly string[]>(
  Object.entries({
    cargo: ['cargo', 'rust'],
    browser: ['google-chrome', 'chromium', 'firefox'],
    chrome: ['google-chrome', 'chromium'],
    golang: ['go'],
    graphviz: ['dot'],
    imagemagick: ['magick', 'convert'],
    latex: ['pdflatex', 'latex'],
    libreoffice: ['libreoffice', 'soffice'],
    nodejs: ['node'],
    'node.js': ['node'],
    npx: ['npm'],
    pip3: ['pip'],
    poppler: ['pdftotext'],
    postgresql: ['psql'],
    python3: ['python'],
    ripgrep: ['rg'],
    rustc: ['rust'],
    soffice: ['soffice', 'libreoffice'],
    sqlite: ['sqlite3'],
    texlive: ['pdflatex'],
  }),
)

/** The executables that a program may have, the usual one first. */
const executablesOf = (name: string): readonly string[] => called.get(name) ?? [name]

/** A longer text is not a name. */
const longestNeed = 80

/** Parses one need; undefined for text that only a person can check. */
export function parseNeed(words: string): Need | undefined {
  const text = words.trim().replace(/ (access|connection|rights|privileges)$/i, '')
  if (text.length > longestNeed) return undefined
  const known = plain.get(text.toLowerCase())
  if (known) return known
  const [, from, name] = /^([a-z][\w-]*):\s*(\S+)$/i.exec(text) ?? []
  if (from !== undefined) return { kind: 'package', from: from.toLowerCase(), name: name! }
  const [, program, version] = /^([a-z][a-z\d.+-]*?)(?:(?:\s*(?:>=|@)\s*|\s+)v?(\d+(?:\.\d+)*)\+?)?$/i.exec(text) ?? []
  if (program === undefined) return undefined
  const any = executablesOf(program.toLowerCase())
  return defined({ kind: 'program' as const, name: any[0]!, any, atLeast: version })
}

/** The programs to look for before they can count as missing. */
export function neededPrograms(needs: readonly string[]): string[] {
  const names = needs.map(parseNeed).flatMap((need) => {
    if (need?.kind === 'program') return need.any
    return need?.kind === 'package' ? [need.from, ...executablesOf(need.name)] : []
  })
  return [...new Set(names)].filter((name) => /^[\w.+-]+$/.test(name))
}
