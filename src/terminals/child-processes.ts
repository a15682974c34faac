import type { Proc } from '../base/process/process-table.ts'
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { parseStat, processFile, processTable } from '../base/process/process-table.ts'
import { layerName } from './terminal-program.ts'

/** Counts the processes below a terminal's program; `root` is the shell that termaite put around it. */
export async function childrenOf(root: number): Promise<number> {
  const below = await descendants(root)
  const lines = await commandLines(below)
  return Math.max(0, below.filter((pid) => isCounted(pid, lines.get(pid) ?? '')).length - 1)
}

/** Every process below the root, which is not among them. */
async function descendants(root: number): Promise<number[]> {
  const childrenOf = (await childrenFromProc(root)) ?? childrenFromTable(await processTable())
  const found: number[] = []
  const visit = async (parent: number): Promise<void> => {
    const children = await childrenOf(parent)
    found.push(...children)
    await Promise.all(children.map(visit))
  }
  await visit(root)
  return found
}

type ChildrenOf = (pid: number) => number[] | Promise<number[]>

/** Linux lists the children of one process: a look at all processes costs a hundred times as much. */
async function childrenFromProc(root: number): Promise<ChildrenOf | undefined> {
  const known = await readFile(`/proc/${root}/task/${root}/children`, 'utf8').catch(() => undefined)
  if (known === undefined) return undefined
  return async (pid) => {
    const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
    const lists = threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => ''))
    return (await Promise.all(lists)).join(' ').split(/\s+/).filter(Boolean).map(Number)
  }
}

function childrenFromTable(table: readonly Proc[]): ChildrenOf {
  return (parent) => table.filter(({ ppid }) => ppid === parent).map(({ pid }) => pid)
}

/** Says whether a process is the person's, and not one of our shells or a fork of it before its exec. */
function isCounted(pid: number, line: string): boolean {
  if (line !== '') return !line.split(' ').includes(layerName)
  // Zombies have no command line, but neither has a living process at the moment of its exec.
  const stat = processFile(pid, 'stat')
  return stat !== undefined && parseStat(pid, stat.toString('latin1')) !== undefined
}

/** Command lines with a space between the words, as ps prints them. */
async function commandLines(pids: readonly number[]): Promise<Map<number, string>> {
  if (process.platform === 'linux') return commandLinesFromProc(pids)
  const out = await new Promise<string>((resolve) =>
    execFile('ps', ['-o', 'pid=,args=', '-p', pids.join(',')], { maxBuffer: 1 << 26 }, (_error, text) => resolve(text)),
  )
  return new Map([...out.matchAll(/^\s*(\d+)\s(.*)$/gm)].map(([, pid, line]) => [Number(pid), line!]))
}

async function commandLinesFromProc(pids: readonly number[]): Promise<Map<number, string>> {
  const lines = pids.map((pid) =>
    readFile(`/proc/${pid}/cmdline`, 'utf8').then(
      (line): [number, string] => [pid, line.replaceAll('\0', ' ')],
      // The process has ended meanwhile.
      (): [number, string] => [pid, ''],
    ),
  )
  return new Map(await Promise.all(lines))
}
