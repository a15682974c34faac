import type { Entry, Event } from '../../src/core/talk/entry.ts'
import type { Agent, Leash } from '../../src/core/work/agent.ts'
import type { TurnWorld } from '../../src/core/work/conversation.ts'
import type { Effort } from '../../src/core/profile/effort.ts'
import type { Ask } from '../../src/core/talk/question.ts'
import type { Outcome } from '../../src/core/talk/outcome.ts'
import type { Script } from './model-server.ts'
import type { WarmProcesses } from '../../src/agents/warm-processes.ts'
import type { Rig } from './rig.ts'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { acpAgent } from '../../src/agents/acp/acp-agent.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { pipeAgent } from '../../src/agents/pipe/pipe-agent.ts'
import { Conversation } from '../../src/core/work/conversation.ts'
import { profileNamed } from '../../src/profiles/all.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { carries, processTable } from '../../src/base/process/process-table.ts'
import { frameFaults } from '../agents/acp-frames.ts'
import { defined } from '../../src/base/defined.ts'
import { modelServer } from './model-server.ts'
import { rig } from './rig.ts'

/** The way to the CLI, the person who answers it, the texts that are typed meanwhile, which model it should use, and how hard it should think now. */
export type Wishes = {
  open?: typeof pipeAgent
  ask?: Ask
  steer?: TurnWorld['steer']
  effort?: () => Effort | undefined
  model?: () => string | undefined
  warm?: WarmProcesses
}

/** A conversation with a real CLI whose model is a script. */
export async function talk(
  cli: string,
  script: Script,
  { open = pipeAgent, ask, steer, effort, model, warm }: Wishes = {},
) {
  const server = await modelServer(script)
  const rigs: Rig[] = [await rig(cli, server.url)]
  const store = memoryStore()
  const blobs = store.blobs('output')
  const profile = profileNamed(cli)!
  const parts = { log: store.log<Entry>('history'), blobs, session: 's', clock: realClock, owner: 'me' }
  const conversation = new Conversation({ ...parts, alive: () => true })
  const place = () => rigs.at(-1)!

  function agent(leash: Leash): Agent {
    const overheard = open === acpAgent ? { command: tapped(profile.acp!.command({ leash }), place().root) } : {}
    const spec = { name: cli, profile, window: profile.window, timeoutMs: 120_000, silenceMs: 60_000, ...overheard }
    const chosen = defined({ ...spec, effort: effort?.(), model: model?.() })
    return open(chosen, { leash }, defined({ blobs, env: place().env, warm }))
  }

  async function take(by: Agent, prompt: string, leash: Leash, signal: AbortSignal): Promise<Event[]> {
    const events: Event[] = []
    const world = {
      cwd: place().cwd,
      leash,
      signal,
      ...(ask ? { ask, attended: true } : {}),
      ...(steer ? { steer } : {}),
    }
    for await (const event of conversation.converse(by, prompt, world)) events.push(event)
    await by.close()
    return events
  }

  return {
    server,
    place,
    /** One turn of the CLI; all its events. */
    say: (prompt: string, leash: Leash = 'read', signal = new AbortController().signal) =>
      take(agent(leash), prompt, leash, signal),
    /** One turn of somebody else. */
    sayTo: (other: Agent, prompt: string) => take(other, prompt, 'read', new AbortController().signal),
    /** From now on it runs in a home that knows nothing. */
    async moveOut() {
      rigs.push(await rig(cli, server.url))
    },
    /** The processes that still run in its home. */
    async left(): Promise<number[]> {
      const pids = (await processTable()).map(({ pid }) => pid)
      const ours = await Promise.all(pids.map((pid) => carries(pid, place().root)))
      return pids.filter((_pid, at) => ours[at])
    },
    async [Symbol.asyncDispose]() {
      await server.close()
      const faults = open === acpAgent ? rigs.flatMap(({ root }) => overheardFaults(root)) : []
      for (const one of rigs) await one[Symbol.asyncDispose]()
      if (faults.length > 0) throw new Error(`frames that the schema does not allow:\n${faults.join('\n')}`)
    },
  }
}

/** The command with what goes in and out of it written down, a pair of files for each process. */
function tapped(command: string, folder: string): string {
  const file = (way: string) => `'${folder}'/acp-${way}-$$.jsonl`
  return `set -o pipefail; tee ${file('in')} | ${command} | tee ${file('out')}`
}

/** The faults that the protocol's own schema finds in the frames that we sent to a real agent. */
function overheardFaults(folder: string): string[] {
  const frames = (path: string) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))
  return globSync(join(folder, 'acp-in-*.jsonl')).flatMap((path) => {
    const ours = frames(path)
    if (ours[0]?.method !== 'initialize') return [`${path} does not begin with a handshake`]
    return frameFaults(ours, frames(path.replace('acp-in-', 'acp-out-')))
  })
}

export function outcomeOf(events: readonly Event[]): Outcome | undefined {
  const end = events.at(-1)
  return end?.type === 'end' ? end.outcome : undefined
}

/** The facts of a turn as they are kept, without what each place gives them. */
export function factsOf(events: readonly Event[]): object[] {
  return events
    .filter((event) => 'id' in event)
    .map((event) => {
      const {
        id: _id,
        at: _at,
        session: _session,
        turn: _turn,
        owner: _owner,
        ...fact
      } = event as unknown as Record<string, unknown>
      return fact
    })
}
