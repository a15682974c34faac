import type { Proc } from '../base/process/table.ts'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { processTable } from '../base/process/table.ts'
import { layerName } from './shell.ts'

/** How many processes run below a terminal's program; the shells that we put around it are nobody. */
export async function childrenOf(root: number): Promise<number> {
  const below = descendants(await processTable(), root)
  const words = await commandLines(below)
  return Math.max(0, below.filter((pid) => !isLayer(words.get(pid) ?? '')).length - 1)
}

/** The root is a shell of ours, and not among them. */
function descendants(table: readonly Proc[], root: number): number[] {
  const children = new Map<number, number[]>()
  for (const { pid, ppid } of table) children.set(ppid, [...(children.get(ppid) ?? []), pid])
  const found: number[] = []
  const visit = (parent: number) => {
    for (const pid of children.get(parent) ?? []) {
      found.push(pid)
      visit(pid)
    }
  }
  visit(root)
  return found
}

/** A shell of ours, or a copy of it that has not become a program yet. */
function isLayer(line: string): boolean {
  return line.split(' ').includes(layerName)
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
      (): [number, string] => [pid, layerName],
    ),
  )
  return new Map(await Promise.all(lines))
}
