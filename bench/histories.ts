import type { Entry } from '../src/core/talk/entry.ts'
import type { Row } from './measure.ts'
import { appendFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { realClock } from '../src/base/time/clock.ts'
import { newId } from '../src/base/id.ts'
import { readTail } from '../src/core/work/conversation.ts'
import { fileStore } from '../src/store/files/file-store.ts'
import { withMachine } from './measure.ts'

const sizes = [1e3, 1e6, 1e8, 1e9]

/** Opening a history costs what its view costs: the same view at the end of ever longer logs. */
export async function histories(): Promise<Row[]> {
  const rows: Row[] = []
  let smallest: { open: number; append: number } | undefined
  for (const size of sizes) {
    const { open, append } = await withMachine({}, ({ home }) => measure(home, size))
    smallest ??= { open, append }
    const name = size >= 1e9 ? `${size / 1e9} GB` : size >= 1e6 ? `${size / 1e6} MB` : `${size / 1e3} KB`
    rows.push({
      what: `opening a history of ${name} against 1 KB`,
      value: open / smallest.open,
      unit: 'ratio',
      detail: `${open.toFixed(2)} ms`,
    })
    rows.push({
      what: `appending to a history of ${name} against 1 KB`,
      value: append / smallest.append,
      unit: 'ratio',
      detail: `${append.toFixed(2)} ms an entry, on disk`,
    })
  }
  return rows
}

async function measure(home: string, size: number): Promise<{ open: number; append: number }> {
  const file = join(home, 'projects/bench/history.jsonl')
  mkdirSync(dirname(file), { recursive: true })
  fillOldSession(file, size)
  const log = fileStore(home, { clock: realClock }).log<Entry>('projects/bench/history')
  const from = await log.end()
  const appends: number[] = []
  for (let turn = 0; turn < 20; turn++)
    for (const fact of [
      { type: 'prompt', text: 'x'.repeat(500) },
      { type: 'reply', text: 'y'.repeat(2000) },
      { type: 'end', outcome: { ok: true, text: 'y' } },
    ]) {
      const began = performance.now()
      await log.append({
        id: newId(Date.now()),
        at: Date.now(),
        by: 'a',
        session: 'now',
        turn: String(turn),
        ...fact,
      } as Entry)
      appends.push(performance.now() - began)
    }
  const opens: number[] = []
  for (let i = 0; i < 9; i++) {
    const began = performance.now()
    const { entries } = await readTail(log, { id: 'now', from })
    if (entries.length !== 60) throw new Error(`the view has ${entries.length} entries`)
    opens.push(performance.now() - began)
  }
  return { open: median(opens), append: median(appends) }
}

function fillOldSession(file: string, size: number): void {
  const line = `${JSON.stringify({ id: 'old', at: 1, by: 'a', session: 'old', turn: 't', type: 'reply', text: 'z'.repeat(400) })}\n`
  const chunk = line.repeat(Math.max(1, Math.ceil(Math.min(size, 1e7) / line.length)))
  for (let written = 0; written < size; written += chunk.length) appendFileSync(file, chunk)
}

const median = (all: number[]) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)]!
