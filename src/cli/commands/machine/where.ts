import type { Parsed } from '../../arguments/cli-command.ts'
import type { Io } from '../../../core/io.ts'
import { join } from 'node:path'
import { codeCache, homeFolder, homeContents, sizeOf } from '../../../home/home-files.ts'
import { print } from '../../../core/io.ts'
import { whereabouts, ownEntries } from '../../../native/mcp/mcp-entries.ts'
import { worktreesIn } from '../../../worktrees/slot-worktrees.ts'
import { socketsOf } from '../../../wire/peer/peers.ts'
import { knownProjects } from '../../../home/projects.ts'
import type { RunningProcess } from '../../../border/running-processes.ts'
import type { UnfinishedTurn } from '../../../turn/unfinished-turns.ts'
import { runningProcesses } from '../../../border/running-processes.ts'
import { loneTable, loneTerminals } from '../../../crew/machine/stray-terminals.ts'
import { unfinishedTurns } from '../../../turn/unfinished-turns.ts'
import { bytes, table } from '../../../base/text/table.ts'

/** A file or folder. If it does not belong to termaite, its size is not measured: that could mean a whole home folder. */
type Row = { path: string; bytes?: number; what: string; ours: boolean }

export async function run(io: Io, { values }: Parsed): Promise<number> {
  const home = homeFolder(io.env)
  const turns = await unfinishedTurns(io)
  const running = runningProcesses(home, io.clock.now())
  const sockets = await socketsOf(home)
  const terminals = await loneTerminals(io)
  const cache = codeCache(io.env)
  const compiled = { what: 'compiled code; a cache', ours: true }
  const files = [...rows(home), ...(cache ? [{ path: cache, bytes: sizeOf(cache), ...compiled }] : [])]
  const entries = ownEntries(whereabouts(io.env)).map(({ client, file: { path }, backup }) => ({
    client: client.name,
    path,
    key: client.path.join('.'),
    ...(backup ? { backup } : {}),
  }))
  if (values.json) {
    print(
      io,
      JSON.stringify({
        home,
        files,
        entries,
        worktrees: worktreesIn(home),
        sockets,
        processes: [...turns, ...running],
        ...(terminals.length > 0 ? { terminals } : {}),
      }),
    )
    return 0
  }
  if (files.length === 0) print(io, `There are no files yet. They will be in ${home}`)
  else print(io, table(files.map((row) => [row.path, row.bytes === undefined ? '' : bytes(row.bytes), row.what])))
  if (entries.length === 0) print(io, 'Entries in other programs: none.')
  else
    print(
      io,
      `Entries in other programs (remove with termaite mcp remove <client>):\n${table(
        entries.map(({ client, path, key, backup }) => [client, path, backup ? `${key}; backup: ${backup}` : key]),
      )}`,
    )
  for (const path of worktreesIn(home)) print(io, `Worktree: ${path}`)
  if (sockets.length > 0) print(io, `Sockets: ${sockets.join(', ')}`)
  print(io, processLine(turns, running))
  if (terminals.length > 0) print(io, loneTable(io, terminals))
  return 0
}

/** Lists every process once, with its purpose; a process that only runs a turn is identified by its pid. */
function processLine(turns: readonly UnfinishedTurn[], running: readonly RunningProcess[]): string {
  const known = running.map(({ process, pid }) => `${process} ${pid ?? 'elsewhere'}`)
  const pids = new Set(running.map(({ pid }) => pid))
  const others = new Set(turns.flatMap(({ pid }) => (pid === undefined || pids.has(pid) ? [] : [String(pid)])))
  const all = [...known, ...others]
  return all.length === 0 ? 'Processes: none.' : `Processes: ${all.join(', ')} (termaite ps)`
}

function rows(home: string): Row[] {
  const { ours, yours, strangers } = homeContents(home)
  const paths = new Map(knownProjects(home).map(({ slug, path }) => [join(home, 'projects', slug), path]))
  return [
    ...ours.map(({ path, parts, what }) => ({
      path,
      bytes: parts.reduce((sum, part) => sum + sizeOf(part), 0),
      what: paths.has(path) ? `${what} of ${paths.get(path)}` : what,
      ours: true,
    })),
    ...yours.map(({ path, what }) => ({ path, what, ours: false })),
    ...strangers.map((path) => ({ path, what: 'not termaite’s', ours: false })),
  ]
}
