import type { Row } from './measure.ts'
import type { IPty } from '@lydell/node-pty'
import pty from '@lydell/node-pty'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { at, start, withMachine } from './measure.ts'
import { gone } from './processes.ts'

/** A hundredth of them must be many, or one busy moment of the machine makes the percentile. */
const strokes = 5_000
const warm = 30

/** The least that a program can do with a key: it gives it back. */
const echo = `stty raw -echo; printf ready; exec cat`

type Person = { stroke(letter: string): Promise<number>; leave(): Promise<void> }

/** A key on its way to a program and back: through our own process, through two of them, and straight. */
export async function passThrough(): Promise<Row[]> {
  return withMachine({}, async ({ home, project, env }) => {
    const agents = { echo: { command: 'sh', args: ['-c', echo] } }
    writeFileSync(join(home, 'settings.json'), JSON.stringify({ terminals: { host: 'pty' }, leash: 'edit', agents }))
    const node = [process.execPath, '--disable-warning=ExperimentalWarning']
    const crew = (...words: string[]) =>
      promisify(execFile)(start[0], [...start.slice(1), 'crew', ...words], { cwd: project, env })
    const inside = { ...env, SHELL: '/bin/sh', TERM: 'xterm-256color', LANG: 'C.UTF-8' }
    const persons: Person[] = []
    try {
      await crew('spawn', 'echo')
      for (const argv of [
        ['sh', '-c', echo],
        [...node, join(import.meta.dirname, 'relay.ts'), echo],
        [...node, join(import.meta.dirname, 'attached.ts'), echo],
        [...start, 'crew', 'attach', '1'],
      ])
        persons.push(await sit(argv, project, inside))
      const taken: number[][] = persons.map(() => [])
      for (let i = 0; i < warm + strokes; i++)
        for (const [index, person] of persons.entries()) {
          const took = await person.stroke('abcdefghijklmnopqrstuvwxyz'[i % 26]!)
          if (i >= warm) taken[index]!.push(took)
        }
      const [bare, relay, own, crews] = taken as [number[], number[], number[], number[]]
      return [
        row('through a terminal of this process', own, bare, relay),
        row('through a crew’s terminal in another process', crews, bare, relay),
      ]
    } finally {
      await Promise.all(persons.map((person) => person.leave()))
      await crew('close', '--yes')
      // A keeper that still runs would write into a folder that is gone.
      await gone(project)
    }
  })
}

function row(way: string, ours: readonly number[], bare: readonly number[], relay: readonly number[]): Row {
  const both = (all: readonly number[]) => `${at(all, 0.5).toFixed(2)}/${at(all, 0.99).toFixed(2)}`
  return {
    what: `a key ${way} and back, beyond the least relay that Node can be, p99`,
    value: at(ours, 0.99) - at(relay, 0.99),
    unit: 'ms',
    bar: 1,
    detail: `median/p99 of ${strokes} keys in turn: ${both(ours)} ms; in a bare PTY ${both(bare)}; through the least relay that Node can be ${both(relay)}`,
  }
}

async function sit(argv: readonly string[], cwd: string, env: Record<string, string>): Promise<Person> {
  const child: IPty = pty.spawn(argv[0]!, argv.slice(1), { name: 'xterm-256color', cols: 120, rows: 40, cwd, env })
  let waits: { what: string; text: string; done(): void } | undefined
  child.onData((text) => {
    if (!waits) return
    waits.text += text
    if (!waits.text.includes(waits.what)) return
    const { done } = waits
    waits = undefined
    done()
  })
  const left = new Promise<void>((resolve) => child.onExit(() => resolve()))
  const seen = (what: string) => new Promise<void>((done) => (waits = { what, text: '', done }))
  await seen('ready')
  return {
    async stroke(letter) {
      const began = performance.now()
      const back = seen(letter)
      child.write(letter)
      await back
      return performance.now() - began
    },
    async leave() {
      // The key by which we are left; to a bare program it is a letter.
      child.write('\u001d')
      const kill = setTimeout(() => child.kill('SIGKILL'), argv.includes('-c') ? 0 : 2_000)
      await left
      clearTimeout(kill)
    },
  }
}
