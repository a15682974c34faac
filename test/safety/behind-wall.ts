import type { TestContext } from 'node:test'
import { spawn } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, lstatSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { WallLimits } from '../../src/safety/wall/wall.ts'
import type { WalledResult, WalledWork } from './walled-process.ts'
import { noSandbox } from './no-sandbox.ts'

/** A user who runs commands behind a wall; no account is needed for the number of an ordinary user. */
export type WallUser = { name: string; id?: number; skip: string | boolean }

const isRoot = process.getuid?.() === 0
const ordinary = 61_234

/** The user of these tests and, where that is root, an ordinary one too. */
export const wallUsers: readonly WallUser[] = [
  { name: isRoot ? 'root' : 'an ordinary user', skip: noSandbox },
  ...(isRoot
    ? [{ name: 'an ordinary user', id: ordinary, skip: noSandbox }]
    : [{ name: 'root', skip: 'only root can try it as root' }]),
]

/** A project and a home for somebody, beside the temporary folder, which is another one behind the wall. */
export function groundsOf(t: TestContext, { id }: Pick<WallUser, 'id'>): { base: string; root: string; home: string } {
  const base = realpathSync(mkdtempSync(join('/var/tmp', 'termaite-wall-')))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const [root, home] = [join(base, 'project'), join(base, 'home')]
  for (const folder of [root, home]) mkdirSync(folder)
  chmodSync(base, 0o755)
  if (id !== undefined) give(base, id)
  return { base, root, home }
}

/** Gives a folder and everything in it to a user. */
export function give(path: string, id: number): void {
  chownSync(path, id, id)
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) give(join(path, name), id)
}

/** Runs scripts behind walls as somebody. The wall is built by that user too; `before` are words in front of the command line. */
export async function runBehindWall(
  user: WallUser,
  limits: Pick<WallLimits, 'root' | 'home'> & Partial<WallLimits>,
  scripts: readonly string[],
  { turn = false, env = {}, before = [] }: { turn?: boolean; env?: Record<string, string>; before?: string[] } = {},
): Promise<WalledResult[]> {
  const node = [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    '--require',
    join(import.meta.dirname, '..', 'fixtures', 'cached.cjs'),
    join(import.meta.dirname, 'walled-process.ts'),
  ]
  const as =
    user.id === undefined ? [] : ['setpriv', `--reuid=${user.id}`, `--regid=${user.id}`, '--clear-groups', '--']
  const [program, ...args] = [...before, ...as, ...node]
  const child = spawn(program!, args, {
    cwd: limits.root,
    env: { PATH: process.env.PATH, HOME: limits.home, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const work: WalledWork = {
    limits: { project: 'write', git: 'write', network: false, sockets: false, ...limits },
    scripts,
    turn,
  }
  child.stdin.end(JSON.stringify(work))
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  if (code !== 0) throw new Error(err)
  return JSON.parse(out) as WalledResult[]
}
