import type { TestContext } from 'node:test'
import type { Terminal } from '../../src/core/screen/terminal.ts'
import type { Event } from '../../src/core/talk/entry.ts'
import type { Store } from '../../src/core/talk/store.ts'
import type { Agent, RosterSeat } from '../../src/core/work/agent.ts'
import type { KeeperParts } from '../../src/crew/crew-parts.ts'
import type { Tty } from '../terminals/scripted-terminals.ts'
import { HandClock } from '../hand-clock.ts'
import { nonceOf } from '../../src/core/screen/fence.ts'
import { Crew } from '../../src/crew/crew.ts'
import { Keeper } from '../../src/crew/keeper.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { scriptedTerminals } from '../terminals/scripted-terminals.ts'

export type Seats = Record<string, (seat: RosterSeat) => Agent>

export type Rig = Partial<KeeperParts> & { store?: Store; clock?: HandClock }

export const place = { cwd: '/project', leash: 'edit' as const }

/** A crew and its keeper in one process, on a clock that is turned by hand. */
export function crewOf(context: TestContext, seats: Seats, part: Rig = {}) {
  const store = part.store ?? memoryStore()
  const clock = part.clock ?? new HandClock(0)
  const parts: KeeperParts = {
    workspace: 'w',
    owner: 'me',
    alive: () => true,
    isKeeper: true,
    names: () => Object.keys(seats),
    find: async (): Promise<Terminal | undefined> => undefined,
    limits: { perWorkspace: 10, total: 20 },
    elsewhere: async () => 0,
    outlives: () => true,
    mask: (text) => text,
    roster: { names: () => Object.keys(seats), open: (name, seat) => seats[name]!(seat) },
    ...part,
    store,
    clock,
  }
  const keeper = new Keeper(parts)
  context.after(() => keeper.leave())
  return { crew: new Crew(parts), keeper, store, clock, parts }
}

/** Terminals that outlive every keeper, and a program that a test answers for. */
export function machine() {
  /** Every prompt that was pasted into any of them. */
  const pasted: string[] = []
  const ttys = new Map<string, Tty>()
  const exits = new Map<string, (code: number) => void>()
  const host = scriptedTerminals((command) => (tty) => {
    ttys.set(command, tty)
    const typing = (async () => {
      for (let text = await tty.read(); text !== undefined; text = await tty.read()) {
        if (text === '\r') continue
        // A paste has the line ends of a keyboard.
        const words = text.replaceAll(/\u001b\[20[01]~/g, '').replaceAll('\r', '\n')
        pasted.push(words.split('\n')[0]!)
        tty.print(`> ${words}\n`)
      }
      return 0
    })()
    return Promise.race([typing, new Promise<number>((resolve) => exits.set(command, resolve))])
  })
  return {
    host,
    pasted,
    find: (id: string) => host.find(id),
    /** The program of a slot says something. */
    print: (slot: number, text: string) => ttys.get(String(slot))!.print(text),
    answer: (slot: number, text: string) => ttys.get(String(slot))!.print(`answer: ${text}\n`),
    exit: (slot: number, code: number) => exits.get(String(slot))!(code),
    seat: (name: string) => (seat: RosterSeat) => inTerminal(name, seat, host),
  }
}

const lookMs = 100

/** As an agent in a terminal does it: one paste, then its screen is watched until it answers. */
function inTerminal(name: string, seat: RosterSeat, host: ReturnType<typeof scriptedTerminals>): Agent {
  const { id, title = '' } = seat.terminal!
  const slot = title.split(' ')[0]!
  const left = new AbortController()
  let terminal: Terminal | undefined
  const sit = async () => (terminal ??= (await host.find(id)) ?? (await host.open(slot, { cwd: seat.cwd, id })))
  return {
    name,
    traits: { window: 100_000, memory: 'own', talks: true, steers: false },
    get terminal() {
      return terminal
    },
    async start() {
      await sit()
      return undefined
    },
    async *turn(turn): AsyncGenerator<Event> {
      const at = await sit()
      const mark = turn.sent ?? nonceOf(turn.id)
      if (turn.sent === undefined) await at.paste(`${turn.prompt}\nmark ${mark}`, false, mark)
      yield { type: 'state', state: 'busy' }
      let gone = false
      void at.exited.then(() => (gone = true))
      const signal = AbortSignal.any([turn.signal, left.signal])
      while (!signal.aborted) {
        const rows = await at.history(10_000)
        const answer = rows
          .slice(rows.findLastIndex((row) => row.includes(mark)) + 1)
          .find((row) => row.startsWith('answer: '))
        if (answer !== undefined) {
          const text = answer.slice('answer: '.length)
          yield { type: 'reply', text }
          return yield { type: 'end', outcome: { ok: true, text, seen: { fenced: true, by: 'fence' } } }
        }
        if (gone) {
          const failure = { kind: 'crash' as const, message: 'it exited before it answered' }
          return yield { type: 'end', outcome: { ok: false, failure } }
        }
        await turn.clock.sleep(lookMs, signal)
      }
      yield { type: 'end', outcome: { ok: false, failure: { kind: 'aborted', message: 'cancelled' } } }
    },
    async leave() {
      left.abort()
    },
    async close() {
      left.abort()
      await terminal?.close()
    },
  }
}
