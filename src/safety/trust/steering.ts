import { lstat, readFile, readdir, readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256 } from '../../base/hash.ts'

/** What comes with a project and can run code or steer an agent: files, and folders with all that is in them. */
const steering = [
  '.mcp.json',
  'termaite.mcp.yaml',
  'terminus.mcp.yaml',
  '.termaite/settings.json',
  '.termaite/commands',
  '.termaite/agents',
  '.termaite/skills',
  '.termaite/hooks',
  '.skills',
  '.agents',
  '.agent/workflows',
  '.claude/settings.json',
  '.claude/settings.local.json',
  '.claude/skills',
  '.claude/commands',
  '.claude/agents',
  '.claude/hooks',
]

/** Beyond these a file is known by its size and time alone: it is no text that steers. */
const mostFiles = 5_000
const mostBytes = 16 * 1024 * 1024

/** One file and what it holds, by its hash. */
export type Steering = { path: string; hash: string }

/** Every file of a project that can run code or steer, sorted by name; a link counts by where it leads and what is there. */
export async function steeringFiles(root: string): Promise<Steering[]> {
  const found: Steering[] = []
  for (const path of steering) await gather(root, path, found)
  return found.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** All of them as one: what a person saw is what they trust. */
export function markOf(files: readonly Steering[]): string {
  return sha256().update(JSON.stringify(files)).digest('hex')
}

async function gather(root: string, path: string, found: Steering[]): Promise<void> {
  const full = join(root, path)
  const there = await lstat(full).catch(() => undefined)
  if (!there) return
  if (there.isDirectory()) {
    const names = await readdir(full).catch(() => [])
    for (const name of names.sort()) await gather(root, `${path}/${name}`, found)
  } else if (there.isSymbolicLink()) found.push({ path, hash: await linkHash(full) })
  else if (there.isFile()) found.push({ path, hash: await fileHash(full, found.length < mostFiles) })
}

/** Where a link leads, and what is there: a folder behind one is looked into as well. */
async function linkHash(full: string): Promise<string> {
  const target = await readlink(full).catch(() => '')
  const there = await stat(full).catch(() => undefined)
  const inside: Steering[] = []
  if (there?.isDirectory())
    for (const name of (await readdir(full).catch(() => [])).sort()) await gather(full, name, inside)
  const body = there?.isFile() ? await fileHash(full, true) : JSON.stringify(inside)
  return sha256().update(`link ${target}\n${body}`).digest('hex')
}

async function fileHash(full: string, whole: boolean): Promise<string> {
  const { size, mtimeMs } = await stat(full)
  if (!whole || size > mostBytes) return `large:${size}:${mtimeMs}`
  const body = await readFile(full).catch((error: NodeJS.ErrnoException) => `unread ${error.code}`)
  return sha256().update(body).digest('hex')
}
