import { readFile, readdir } from 'node:fs/promises'
import type { HandClock } from '../hand-clock.ts'
import { newId } from '../../src/base/id.ts'

/** Carried in the environment by every process of one test, so that none of another one is taken for it. */
export function labelled(): { label: string; env: Record<string, string | undefined> } {
  const label = newId(Date.now())
  return { label, env: { ...process.env, TEST_LABEL: label } }
}

/** The commands that carry the label and live. */
export async function alive(label: string): Promise<string[]> {
  return (await labelledProcesses(label)).map(({ command }) => command).sort()
}

export async function labelledProcesses(label: string): Promise<{ pid: number; command: string }[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environ = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
      const words = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')
      const command = words.replaceAll('\0', ' ').trim()
      return environ.includes(label) && command !== '' ? [{ pid: Number(pid), command }] : []
    }),
  )
  return found.flat()
}

/** Takes down what a test left on purpose. */
export async function killLabelled(label: string): Promise<void> {
  for (const { pid } of await labelledProcesses(label)) killed(pid)
}

/** Kills a process of a list, whose end may have come since the list was made. */
export function killed(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Far beyond what any of these waits needs: one that is in vain fails and does not hang. */
const patienceMs = 15_000

/** Turns the clock on and on until a promise is settled. */
export async function turning<T>(clock: HandClock, promise: Promise<T>): Promise<T> {
  let settled = false
  const mark = () => void (settled = true)
  promise.then(mark, mark)
  const end = performance.now() + patienceMs
  while (!settled) {
    if (performance.now() > end) throw new Error('the clock was turned in vain')
    await clock.turn(50)
  }
  return promise
}

export async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts).toString()
}
