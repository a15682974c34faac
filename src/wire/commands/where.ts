import type { Parsed } from '../args.ts'
import type { Io } from '../io.ts'
import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileStore } from '../../store/files/store.ts'
import { print } from '../io.ts'
import { homeOf } from '../place.ts'
import { knownProjects } from '../projects.ts'
import { runningTurns } from '../running.ts'
import { bytes, table } from '../table.ts'

type Row = { path: string; bytes: number; what: string }

const meanings: Record<string, string> = {
  'settings.json': 'settings',
  'config.yaml': 'settings',
  'settings.schema.json': 'what editors check the settings with',
  'credentials.json': 'API keys',
  'health.json': 'quota, cool-down and position of each agent',
  'termaite.db': 'index over all conversations; can be made again',
  'lock.db': 'keeps two processes apart',
  projects: 'conversations, snapshots and long outputs',
}

export async function run(io: Io, { values }: Parsed): Promise<number> {
  const home = homeOf(io.env)
  const files = rows(home)
  const processes = await runningTurns(home, fileStore(home, { clock: io.clock }))
  if (values.json) {
    print(io, JSON.stringify({ home, files, entries: [], worktrees: [], sockets: [], processes }))
    return 0
  }
  if (files.length === 0) print(io, `Nothing is kept yet; it would be in ${home}`)
  else print(io, table(files.map((row) => [row.path, bytes(row.bytes), row.what])))
  print(io, 'Written into other programs: nothing.')
  print(
    io,
    processes.length === 0
      ? 'Processes: none.'
      : `Processes: ${processes.map(({ pid }) => pid).join(', ')} (termaite ps)`,
  )
  return 0
}

function rows(home: string): Row[] {
  if (!existsSync(home)) return []
  const own = readdirSync(home)
    .filter((name) => name !== 'projects')
    .sort()
    .map((name) => ({
      path: join(home, name),
      bytes: size(join(home, name)),
      what: meanings[name] ?? meanings[name.replace(/-(wal|shm)$/, '')] ?? 'ours',
    }))
  const projects = knownProjects(home).map(({ slug, path }) => ({
    path: join(home, 'projects', slug),
    bytes: size(join(home, 'projects', slug)),
    what: `conversations of ${path}`,
  }))
  return [...own, ...projects]
}

function size(path: string): number {
  const stat = lstatSync(path)
  if (!stat.isDirectory()) return stat.size
  return readdirSync(path).reduce((sum, name) => sum + size(join(path, name)), 0)
}
