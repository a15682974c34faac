import { lstat, realpath } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { collect } from '../base/collect.ts'
import { isWithin } from '../base/real-path.ts'
import { secretFolders } from './secret-files.ts'

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

export type Argv = readonly [string, ...string[]]

/** What a sandbox is made of, all of it real paths. */
export type Walls = {
  root: string
  writable: readonly string[]
  network: boolean
  hidden: Hidden
  /** Folders of programs that lie where all else is hidden. */
  programs: readonly string[]
  /** What stays as it is, also where it lies in what can be written. */
  kept: readonly string[]
}

export type Hidden = { folders: readonly string[]; files: readonly string[] }

const secretFiles = ['.netrc', '.npmrc', '.pypirc', '.git-credentials', '.pgpass', '.vault-token', '.env']

/** Where keys are kept, as far as it is there and nothing that must be read lies in it. */
export async function hiddenPlaces(home: string, readable: readonly string[]): Promise<Hidden> {
  const folders: string[] = []
  const files: string[] = []
  for (const path of [...secretFolders(home), ...secretFiles.map((name) => join(home, name))]) {
    if (readable.some((one) => isWithin(path, one))) continue
    // A link would be hidden in place of what it leads to.
    const there = await lstat(path).catch(() => undefined)
    if (there?.isDirectory()) folders.push(path)
    else if (there?.isFile()) files.push(path)
  }
  return { folders, files }
}

/** Others' files lie there, and each command has one of its own. */
export const temporary = '/tmp'

/** The order matters: what stands later lies on top. */
export function bubblewrap(command: Argv, { root, writable, network, hidden, programs, kept }: Walls): Argv {
  const trial = root === '/'
  return [
    'bwrap',
    ...['--ro-bind', '/', '/'],
    ...['--dev', '/dev'],
    ...['--proc', '/proc'],
    ...['--tmpfs', temporary],
    ...programs.flatMap((path) => ['--ro-bind-try', path, path]),
    ...hidden.folders.flatMap((path) => ['--tmpfs', path]),
    ...hidden.files.flatMap((path) => ['--ro-bind', '/dev/null', path]),
    ...(trial ? [] : ['--bind', root, root]),
    ...writable.flatMap((path) => ['--bind', path, path]),
    ...kept.flatMap((path) => ['--ro-bind-try', path, path]),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts'],
    ...(network ? [] : ['--unshare-net']),
    '--die-with-parent',
    '--',
    ...command,
  ]
}

/** Its profile language takes the last rule that fits. */
export function seatbelt(command: Argv, { root, writable, network, hidden, kept }: Walls): Argv {
  const places = (paths: readonly string[]) => paths.map((path) => `(subpath ${JSON.stringify(path)})`).join(' ')
  const writes = [root, ...writable, '/private/tmp', '/private/var/folders', '/dev']
  const secrets = [...hidden.folders, ...hidden.files]
  // What lies among secrets and is worked in is none.
  const opened = [root, ...writable].filter((path) => secrets.some((secret) => isWithin(secret, path)))
  const profile = [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    `(allow file-write* ${places(writes)})`,
    ...(secrets.length > 0 ? [`(deny file-read* file-write* ${places(secrets)})`] : []),
    ...(opened.length > 0 ? [`(allow file-read* file-write* ${places(opened)})`] : []),
    ...(kept.length > 0 ? [`(deny file-write* ${places(kept)})`] : []),
    ...(network ? [] : ['(deny network*)', '(allow network* (local unix-socket))']),
  ]
  return ['/usr/bin/sandbox-exec', '-p', profile.join('\n'), ...command]
}
