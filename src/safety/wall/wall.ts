import { lstat, realpath } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { collect } from '../../base/collect.ts'
import { isWithin } from '../../base/real-path.ts'
import { secretFolders } from '../secret-files.ts'

export type Argv = readonly [string, ...string[]]

/** What a wall lets a command do. Everything that is not named here can only be read, and the places of keys not even that. */
export type WallLimits = {
  /** The project. */
  root: string
  project: 'read' | 'write'
  /** Whether objects, refs and the index of the project's git folder may be written; its settings and hooks never are. */
  git: 'read' | 'write'
  network: boolean
  /** Whether unix sockets work inside the wall; those of the host are hidden in any case. */
  sockets: boolean
  home: string
  /** Further folders that may be written, such as the state of a CLI. */
  writable?: readonly string[]
  /** Paths in the writable folders that stay read-only. */
  kept?: readonly string[]
  /** Folders inside secret folders that must stay readable. */
  readable?: readonly string[]
  /** Further places that are hidden, except the readable folders in them: termaite's own home, the logins of other CLIs. */
  hidden?: readonly string[]
  /** Places that show another file or folder inside, mounted in this order before anything is opened, hidden or kept. */
  binds?: readonly WallBind[]
  /** Whether the command draws on a terminal, which must stay its controlling terminal. */
  terminal?: boolean
}

/** `from` on the system stands at `to` inside. */
export type WallBind = { from: string; to: string; write: boolean }

/** A command behind a wall. After its last process has ended, `settle` removes what it may not leave behind, and names it. */
export type Walled = { argv: Argv; settle(): Promise<string[]> }

export type WallHost = { platform: NodeJS.Platform; env: Readonly<Record<string, string | undefined>> }

export type Wall = {
  /** Why this system has no sandbox; undefined if it has one. */
  none(): Promise<string | undefined>
  /** Wraps a command so that the operating system holds it to its limits. */
  wrap(command: Argv, limits: WallLimits): Promise<Walled | { none: string }>
}

export function wallOf({ platform, env }: WallHost): Wall {
  let trial: Promise<string | undefined> | undefined
  const none = () => (trial ??= unavailableReason(platform, env))
  return { none, wrap }

  async function wrap(command: Argv, limits: WallLimits): Promise<Walled | { none: string }> {
    const why = await none()
    if (why !== undefined) return { none: why }
    const real = (path: string) => realpath(path).catch(() => path)
    const root = await real(limits.root)
    const walls = {
      programs: programsIn(env.PATH),
      root,
      kept: await keptIn(root),
      writable: await Promise.all((limits.writable ?? []).map(real)),
      network: limits.network,
      hidden: await hiddenPlaces(limits.home, limits.readable ?? []),
      binds: limits.binds ?? [],
      ...(await hiddenFurther(limits)),
    }
    return {
      argv: platform === 'darwin' ? seatbelt(command, walls) : bubblewrap(command, walls),
      settle: async () => [],
    }
  }
}

/** The real paths that a sandbox opens, hides and protects. */
export type WallPaths = {
  root: string
  writable: readonly string[]
  network: boolean
  hidden: Hidden
  /** Folders of programs in the temporary folder, where everything else is hidden. */
  programs: readonly string[]
  /** Paths that stay read-only, also inside writable folders. */
  kept: readonly string[]
  binds?: readonly WallBind[]
  /** Hidden folders, of which parts can be read. */
  covered?: readonly string[]
  uncovered?: readonly string[]
}

export type Hidden = { folders: readonly string[]; files: readonly string[] }

/** Paths that must stay read-only: git's hooks and settings would run outside the sandbox. In a worktree `.git` is a file. */
async function keptIn(root: string): Promise<string[]> {
  const git = join(root, '.git')
  const link = (await lstat(git).catch(() => undefined))?.isFile() ?? false
  return [...(link ? [git] : [join(git, 'hooks'), join(git, 'config')]), join(root, '.termaite')]
}

/** Folders of PATH, and termaite's own, in the temporary folder. npm's links in `.bin` lead to the folder above. */
function programsIn(path = ''): string[] {
  const folders = [...path.split(delimiter), dirname(process.execPath)]
  const below = folders.filter((folder) => folder.startsWith(`${temporary}/`))
  return [...new Set(below.map((folder) => folder.replace(/(\/node_modules)\/\.bin\/?$/, '$1')))]
}

/** Tries a sandbox: containers often have the program and forbid what it needs. */
async function unavailableReason(platform: NodeJS.Platform, env: WallHost['env']): Promise<string | undefined> {
  if (platform !== 'linux' && platform !== 'darwin') return `termaite has no sandbox for ${platform}`
  const walls = { root: '/', writable: [], network: false, hidden: { folders: [], files: [] }, programs: [], kept: [] }
  const [program, ...args] = platform === 'darwin' ? seatbelt(['/usr/bin/true'], walls) : bubblewrap(['true'], walls)
  const ran = await collect(program, args, { cwd: '/', env, signal: AbortSignal.timeout(trialMs) })
  if (ran.code === 0) return undefined
  if (ran.error?.code === 'ENOENT')
    return platform === 'darwin' ? 'sandbox-exec is missing' : 'bubblewrap (bwrap) is not installed'
  const said = ran.err.trim().split('\n').at(-1) || 'it did not start'
  return `${platform === 'darwin' ? 'sandbox-exec' : 'bubblewrap'} does not work here: ${said}`
}

/** A trial that takes longer has failed. */
const trialMs = 5_000

const secretFiles = ['.netrc', '.npmrc', '.pypirc', '.git-credentials', '.pgpass', '.vault-token', '.env']

/** Existing places of keys, except those that contain a folder which must be readable. */
export async function hiddenPlaces(home: string, readable: readonly string[]): Promise<Hidden> {
  const folders: string[] = []
  const files: string[] = []
  for (const path of [...secretFolders(home), ...secretFiles.map((name) => join(home, name))]) {
    if (readable.some((one) => isWithin(path, one))) continue
    // A link is skipped: hiding it would not hide its target.
    const there = await lstat(path).catch(() => undefined)
    if (there?.isDirectory()) folders.push(path)
    else if (there?.isFile()) files.push(path)
  }
  return { folders, files }
}

/** The further places that a caller hides, and the folders in them that it shows. */
async function hiddenFurther({
  hidden = [],
  readable = [],
}: WallLimits): Promise<{ covered: string[]; uncovered: string[] }> {
  const there: string[] = []
  for (const path of hidden) if ((await lstat(path).catch(() => undefined))?.isDirectory()) there.push(path)
  return { covered: there, uncovered: readable.filter((path) => there.some((folder) => isWithin(folder, path))) }
}

/** The temporary folder: it holds other programs' files, so each command gets an empty one. */
export const temporary = '/tmp'

/** The bubblewrap command line. Later mounts lie on top of earlier ones. */
export function bubblewrap(command: Argv, paths: WallPaths): Argv {
  const { root, writable, network, hidden, programs, kept, binds = [], covered = [], uncovered = [] } = paths
  const trial = root === '/'
  return [
    'bwrap',
    ...['--ro-bind', '/', '/'],
    ...['--dev', '/dev'],
    ...['--proc', '/proc'],
    ...['--tmpfs', temporary],
    ...programs.flatMap((path) => ['--ro-bind-try', path, path]),
    ...binds.flatMap(({ from, to, write }) => [write ? '--bind' : '--ro-bind', from, to]),
    ...[...hidden.folders, ...covered].flatMap((path) => ['--tmpfs', path]),
    ...uncovered.flatMap((path) => ['--ro-bind-try', path, path]),
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

/** The macOS sandbox command line. The last rule that matches counts. */
export function seatbelt(command: Argv, { root, writable, network, hidden, kept }: WallPaths): Argv {
  const places = (paths: readonly string[]) => paths.map((path) => `(subpath ${JSON.stringify(path)})`).join(' ')
  const writes = [root, ...writable, '/private/tmp', '/private/var/folders', '/dev']
  const secrets = [...hidden.folders, ...hidden.files]
  // A folder to work in is opened even inside a secret folder.
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
