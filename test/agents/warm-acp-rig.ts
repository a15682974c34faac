import type { AcpParts } from '../../src/agents/acp/acp-agent.ts'
import type { PipeSpec } from '../../src/agents/pipe/pipe-command.ts'
import type { Entry, Event } from '../../src/core/talk/entry.ts'
import type { Agent, Turn } from '../../src/core/work/agent.ts'
import type { AcpScript, Ground } from './acp-rig.ts'
import { WarmProcesses } from '../../src/agents/warm-processes.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { isFact } from '../../src/core/talk/entry.ts'
import { eventsOf, turnOf } from '../contract/agent.ts'

const roomy = { total: 2 ** 34, free: 2 ** 33 }

/** A pool as a chat has it, on a machine with enough memory. */
export const roomyPool = () => new WarmProcesses({ clock: realClock, idleMs: 600_000, memory: () => roomy })

let count = 0

/** What a log keeps of a turn. */
export function entriesOf(turn: string, prompt: string, events: readonly Event[], by = 'sayer'): Entry[] {
  const facts = [{ type: 'prompt', text: prompt, by: 'user' } as const, ...events.filter(isFact)]
  return facts.map((fact) => ({ id: `e${++count}`, at: count, session: 's', turn, by, ...fact }))
}

/** An agent with a log of its own: every turn goes on with what the log says. */
export function remembering(agent: Agent): Agent {
  let log: Entry[] = []
  let turns = 0
  return {
    ...agent,
    async *turn(turn) {
      const id = `t${++turns}`
      const events: Event[] = []
      try {
        for await (const event of agent.turn({ ...turn, id, history: log })) {
          events.push(event)
          yield event
        }
      } finally {
        log = [...log, ...entriesOf(id, turn.prompt, events)]
      }
    },
  }
}

type Changed = Partial<Turn> & { over?: Partial<PipeSpec>; parts?: Partial<AcpParts> }

/** Turns of a scripted agent in a chat that keeps its process: each goes on with what the log says. */
export function chatting(it: Ground, script: AcpScript, base: Partial<PipeSpec> = {}) {
  const warm = roomyPool()
  let log: Entry[] = []
  let turns = 0
  return {
    warm,
    /** One turn; all its events. */
    async take(prompt: string, { over = {}, parts = {}, leash = 'ask', ...turn }: Changed = {}): Promise<Event[]> {
      const id = `t${++turns}`
      const agent = it.agent({ loads: true, ...script }, { ...base, ...over }, leash, { warm, ...parts })
      const events = await eventsOf(agent, turnOf({ id, prompt, history: log, cwd: it.cwd, leash, ...turn }))
      await agent.close()
      log = [...log, ...entriesOf(id, prompt, events)]
      return events
    },
    /** Changes what the log says, as another process does. */
    rewrite(change: (entries: readonly Entry[]) => Entry[]) {
      log = change(log)
    },
    [Symbol.asyncDispose]: () => warm.close(),
  }
}

/** The answer of a turn or its failure. */
export function answered(events: readonly Event[]): string {
  const end = events.at(-1)
  if (end?.type !== 'end') return 'no end'
  return end.outcome.ok ? end.outcome.text : `${end.outcome.failure.kind}: ${end.outcome.failure.message}`
}
