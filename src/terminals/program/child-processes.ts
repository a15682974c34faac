import type { Proc } from '../../base/process/process-table.ts'
import { execFile } from 'node:child_process'
import { namesIn } from '../../base/files/files.ts'
import { parseStat, processFile, processTable } from '../../base/process/process-table.ts'
import { layerName } from './terminal-program.ts'

/** Counts the processes below a terminal's program; `root` is the shell that termaite put around it. */
export async function childrenOf(root: number): Promise<number> {
  const below = await descendants(root)
  const lines = await commandLines(below)
  return Math.max(0, below.filter((pid) => isCounted(pid, lines.get(pid) ?? '')).length - 1)
}

/** Every process below the root, without the root itself. */
async function descendants(root: number): Promise<number[]> {
  const listed = processFile(root, `task/${root}/children`) !== undefined
  const childrenOf = listed ? childrenFromProc : childrenFromTable(await processTable())
  const found = childrenOf(root)
  for (const pid of found) found.push(...childrenOf(pid))
  return found
}

/**
 * Linux lists the children of one process, which costs a hundredth of reading all processes. The lists are read synchronously, because a
 * crew reads each of its terminals many times a second, and none of this comes from a disk.
 */
function childrenFromProc(pid: number): number[] {
  // A process that has exited in the meantime has no threads.
  return namesIn(`/proc/${pid}/task`).flatMap((thread) => {
    const list = processFile(pid, `task/${thread}/children`)?.toString('latin1') ?? ''
    return list.split(' ').filter(Boolean).map(Number)
  })
}

function childrenFromTable(table: readonly Proc[]): (pid: number) => number[] {
  return (parent) => table.filter(({ ppid }) => ppid === parent).map(({ pid }) => pid)
}

/** Whether a process is the person's, rather than one of our shells or a fork of it before its exec. */
function isCounted(pid: number, line: string): boolean {
  if (line !== '') return !line.split(' ').includes(layerName)
  // Zombies have no command line, but neither does a living process at the moment of its exec.
  const stat = processFile(pid, 'stat')
  return stat !== undefined && parseStat(pid, stat.toString('latin1')) !== undefined
}

/** Command lines with a space between the words, as ps prints them; empty for a process that has exited meanwhile. */
async function commandLines(pids: readonly number[]): Promise<Map<number, string>> {
  if (process.platform === 'linux')
    return new Map(pids.map((pid) => [pid, processFile(pid, 'cmdline')?.toString().replaceAll('\0', ' ') ?? '']))
  const out = await new Promise<string>((resolve) =>
    execFile('/bin/ps', ['-o', 'pid=,args=', '-p', pids.join(',')], { maxBuffer: 1 << 26 }, (_error, text) =>
      resolve(text),
    ),
  )
  return new Map([...out.matchAll(/^\s*(\d+)\s(.*)$/gm)].map(([, pid, line]) => [Number(pid), line!]))
}
