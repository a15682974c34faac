import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { handedStart } from '../scripts/installed-package.ts'

/** The words that start the installed program. */
export const start = handedStart()

/** One measured thing: what it is, the numbers, and the ratio or sum that it is held to. */
export type Row = {
  what: string
  value: number
  unit: 'ratio' | 'ms' | 'MB' | 'bytes' | '%' | 'modules'
  bar?: number
  detail: string
}

/** A machine of its own for one measurement, with plain commands as agents. */
export async function withMachine<T>(
  agents: Record<string, string>,
  work: (machine: BenchMachine) => Promise<T>,
): Promise<T> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-bench-')))
  const home = join(folder, 'termaite')
  const project = join(folder, 'project')
  mkdirSync(home)
  mkdirSync(project)
  const list = Object.entries(agents).map(([name, command]) => ({ name, command, contextWindowTokens: 1_000_000_000 }))
  writeFileSync(join(home, 'settings.json'), JSON.stringify({ rotationStrategy: 'exhaustion', agents: list }))
  try {
    return await work({
      folder,
      home,
      project,
      env: { PATH: process.env.PATH!, HOME: folder, TERMAITE_KEYCHAIN: 'off', TERMAITE_HOME: home },
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export type BenchMachine = { folder: string; home: string; project: string; env: Record<string, string> }

export type Timed = { ms: number; peakMB: number; out: number }

/** Runs a command once; its output is counted, not kept. */
export function time(
  command: readonly string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<Timed> {
  return new Promise((resolve, reject) => {
    const began = performance.now()
    const child = spawn(command[0]!, command.slice(1), {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let out = 0
    let peakMB = 0
    const look = setInterval(() => (peakMB = Math.max(peakMB, rss(child.pid!))), 20)
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.length))
    child.on('error', reject)
    child.on('close', (code) => {
      clearInterval(look)
      if (code !== 0) reject(new Error(`${command.join(' ')} ended with ${code}`))
      else resolve({ ms: performance.now() - began, peakMB, out })
    })
  })
}

/** The medians of several commands, run in turn so that a busy moment hits all of them. */
export async function medians(times: number, runs: readonly (() => Promise<Timed>)[]): Promise<number[]> {
  const taken: number[][] = runs.map(() => [])
  for (const run of runs) await run()
  for (let i = 0; i < times; i++) for (const [index, run] of runs.entries()) taken[index]!.push((await run()).ms)
  return taken.map((all) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)]!)
}

/** The value below which such a part of them lies: 0.5 is the median. */
export function at(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * part)]!
}

export const ms = (value: number) => `${value.toFixed(1)} ms`

function rss(pid: number): number {
  try {
    const line = /VmHWM:\s+(\d+) kB/.exec(
      process.getBuiltinModule('node:fs').readFileSync(`/proc/${pid}/status`, 'utf8'),
    )
    return line ? Number(line[1]) / 1024 : 0
  } catch {
    return 0
  }
}
