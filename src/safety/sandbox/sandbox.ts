import { lstat, realpath } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { collect } from '../../base/collect.ts'
import { bubblewrap, temporary } from './bubblewrap.ts'
import { hiddenPlaces } from './hidden.ts'
import { seatbelt } from './seatbelt.ts'
import type { Argv } from './walls.ts'

export type Fence = {
  /** The project: writable, beside `writable`; all else can only be read. */
  root: string
  writable?: readonly string[]
  network: boolean
  home: string
  /** Folders below secret places that must stay readable. */
  readable?: readonly string[]
}

export type Sandboxed = Argv | { none: string }

export type SandboxHost = { platform: NodeJS.Platform; env: Readonly<Record<string, string | undefined>> }

export type Sandbox = {
  /** Why there is none, where the system has no means for it. */
  none(): Promise<string | undefined>
  /** Wraps a command so that it can only write to the project. */
  wrap(command: Argv, fence: Fence): Promise<Sandboxed>
}

export function sandbox({ platform, env }: SandboxHost): Sandbox {
  let trial: Promise<string | undefined> | undefined
  const none = () => (trial ??= whyNone(platform, env))
  return { none, wrap }

  async function wrap(command: Argv, fence: Fence): Promise<Sandboxed> {
    const why = await none()
    if (why !== undefined) return { none: why }
    const real = (path: string) => realpath(path).catch(() => path)
    const root = await real(fence.root)
    const walls = {
      programs: programsIn(env.PATH),
      root,
      kept: await keptIn(root),
      writable: await Promise.all((fence.writable ?? []).map(real)),
      network: fence.network,
      hidden: await hiddenPlaces(fence.home, fence.readable ?? []),
    }
    return platform === 'darwin' ? seatbelt(command, walls) : bubblewrap(command, walls)
  }
}

/** What Git runs by itself is not for the sandbox to write: it would run outside of it. In a worktree a file tells where that lies. */
async function keptIn(root: string): Promise<string[]> {
  const git = join(root, '.git')
  const link = (await lstat(git).catch(() => undefined))?.isFile() ?? false
  return [...(link ? [git] : [join(git, 'hooks'), join(git, 'config')]), join(root, '.termaite')]
}

/** What PATH, and we ourselves, find below the temporary folder is still found; npm's links lead beside their folder. */
function programsIn(path = ''): string[] {
  const folders = [...path.split(delimiter), dirname(process.execPath)]
  const below = folders.filter((folder) => folder.startsWith(`${temporary}/`))
  return [...new Set(below.map((folder) => folder.replace(/(\/node_modules)\/\.bin\/?$/, '$1')))]
}

/** Asked of the system itself: containers often have the program and forbid what it needs. */
async function whyNone(platform: NodeJS.Platform, env: SandboxHost['env']): Promise<string | undefined> {
  if (platform !== 'linux' && platform !== 'darwin') return `there is no sandbox for ${platform} here`
  const walls = { root: '/', writable: [], network: false, hidden: { folders: [], files: [] }, programs: [], kept: [] }
  const [program, ...args] = platform === 'darwin' ? seatbelt(['/usr/bin/true'], walls) : bubblewrap(['true'], walls)
  const ran = await collect(program, args, { cwd: '/', env, signal: AbortSignal.timeout(trialMs) })
  if (ran.code === 0) return undefined
  if (ran.error?.code === 'ENOENT')
    return platform === 'darwin' ? 'sandbox-exec is not there' : 'bubblewrap (bwrap) is not installed'
  const said = ran.err.trim().split('\n').at(-1) || 'it did not start'
  return `${platform === 'darwin' ? 'sandbox-exec' : 'bubblewrap'} does not work here: ${said}`
}

/** A trial that takes longer is none. */
const trialMs = 5_000
