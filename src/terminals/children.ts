import type { Proc } from '../base/process/table.ts'
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { processTable } from '../base/process/table.ts'
import { layerName } from './shell.ts'

/** How many processes run below a terminal's program; the shells that we put around it are nobody. */
export async function childrenOf(root: number): Promise<number> {
  const below = await descendants(root)
  const words = await commandLines(below)
  return Math.max(0, below.filter((pid) => !isLayer(words.get(pid) ?? '')).length - 1)
}

/** The root is a shell of ours, and not among them. */
async function descendants(root: number): Promise<number[]> {
  const childrenOf = (await toldBySystem(root)) ?? fromTable(await processTable())
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

/** Linux tells of the children of one process: looking at all processes costs a hundred times as much. */
async function toldBySystem(root: number): Promise<ChildrenOf | undefined> {
  const told = await readFile(`/proc/${root}/task/${root}/children`, 'utf8').catch(() => undefined)
  if (told === undefined) return undefined
  return async (pid) => {
    const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
    const lists = threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => ''))
    return (await Promise.all(lists)).join(' ').split(/\s+/).filter(Boolean).map(Number)
  }
}

function fromTable(table: readonly Proc[]): ChildrenOf {
  return (parent) => table.filter(({ ppid }) => ppid === parent).map(({ pid }) => pid)
}

/** A shell of ours, or a copy of it that has not become a program yet; who is only not buried has no words. */
function isLayer(line: string): boolean {
  return line === '' || line.split(' ').includes(layerName)
}

/** With a space between the words, as ps shows them. */
async function commandLines(pids: readonly number[]): Promise<Map<number, string>> {
  if (process.platform === 'linux') return fromProc(pids)
  const out = await new Promise<string>((resolve) =>
    execFile('ps', ['-o', 'pid=,args=', '-p', pids.join(',')], { maxBuffer: 1 << 26 }, (_error, text) => resolve(text)),
  )
  return new Map([...out.matchAll(/^\s*(\d+)\s(.*)$/gm)].map(([, pid, line]) => [Number(pid), line!]))
}

async function fromProc(pids: readonly number[]): Promise<Map<number, string>> {
  const lines = pids.map((pid) =>
    readFile(`/proc/${pid}/cmdline`, 'utf8').then(
      (line): [number, string] => [pid, line.replaceAll('\0', ' ')],
      // It has gone meanwhile.
      (): [number, string] => [pid, ''],
    ),
  )
  return new Map(await Promise.all(lines))
}
