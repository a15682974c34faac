import type { Entry, Event } from '../../src/core/talk/entry.ts'
import type { Profile } from '../../src/core/profile/profile.ts'
import type { TurnTerms } from '../../src/core/profile/turn-terms.ts'
import type { PipeParts } from '../../src/agents/pipe/pipe-agent.ts'
import type { Leash, Turn } from '../../src/core/work/agent.ts'
import { join } from 'node:path'
import { acpAgent } from '../../src/agents/acp/acp-agent.ts'
import { pipeAgent } from '../../src/agents/pipe/pipe-agent.ts'
import { profileNamed } from '../../src/profiles/all.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { alive, labelled } from '../base/alive.ts'
import { eventsOf, turnOf } from '../contract/agent.ts'
import { entriesOf, roomyPool } from './warm-acp-rig.ts'

/** The program of the stand-in, for which a wall needs to be open. */
export const program = join(import.meta.dirname, 'kept-cli.ts')
const command = (protocol: string, how: string) => `exec '${process.execPath}' '${program}' ${protocol} ${how}`
const leashes = { read: 'read', ask: 'ask', edit: 'edit', all: 'all' }

/** The leash on the command line of the program: pi begins with the same tools at each leash but one. */
const startedAt = (protocol: string, leash: Leash) => (protocol === 'pi' && leash !== 'all' ? 'looking' : leash)

/** A CLI with the dialect of a real one, whose program is the stand-in; over ACP it has a mode for each leash. */
function profileOf(protocol: string): Profile {
  if (protocol !== 'acp')
    return {
      ...profileNamed(protocol)!,
      leashes,
      command: ({ leash, model }) => command(protocol, `${startedAt(protocol, leash)} ${model ?? 'own'}`),
    }
  const { lends: _, ...gemini } = profileNamed('gemini')!
  return {
    ...gemini,
    acp: { ...gemini.acp!, leashes, modes: leashes, command: () => command('acp', 'ask') },
  }
}

/** The protocols in which a CLI takes turn after turn. */
export const protocols = ['claude', 'codex', 'pi', 'acp'] as const

/** A chat with one such agent: its turns are kept in a log, and each goes on with what the log says. */
export function keptChat(
  protocol: (typeof protocols)[number],
  parts: Partial<Pick<PipeParts, 'enclose' | 'env'>> = {},
) {
  const warm = roomyPool()
  const profile = profileOf(protocol)
  const { label, env } = labelled()
  const blobs = memoryStore().blobs('test')
  let log: Entry[] = []
  let turns = 0
  return {
    warm,
    /** The commands of its processes that still run. */
    running: () => alive(label),
    /** One turn; all its events. */
    async take(
      prompt: string,
      {
        leash = 'ask',
        model,
        effort,
        plans = false,
        ...turn
      }: Partial<Turn> & Partial<TurnTerms> & { plans?: boolean } = {},
    ): Promise<Event[]> {
      const id = `t${++turns}`
      const spec = { name: 'sayer', window: 1000, timeoutMs: 60_000, silenceMs: 30_000, profile, model, effort, plans }
      const agent = (protocol === 'acp' ? acpAgent : pipeAgent)(
        spec,
        { leash },
        { ...parts, blobs, env: { ...env, ...parts.env }, warm },
      )
      const events = await eventsOf(agent, turnOf({ id, prompt, history: log, leash, ...turn }))
      await agent.close()
      log = [...log, ...entriesOf(id, prompt, events)]
      return events
    },
    [Symbol.asyncDispose]: () => warm.close(),
  }
}

/**
 * How a turn ended: which process answered, the number of its prompt, its leash, model and effort, and its changes since the last one; or
 * the kind of the failure.
 */
export function ending(events: readonly Event[]): { pid: number; said: string } | string {
  const end = events.at(-1)
  if (end?.type !== 'end') return 'no end'
  if (!end.outcome.ok) return end.outcome.failure.kind
  const [, pid, said] = /^pid (\d+) (.*)$/s.exec(end.outcome.text) ?? []
  return { pid: Number(pid), said: said ?? end.outcome.text }
}
