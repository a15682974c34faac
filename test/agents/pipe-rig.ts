import type { PipeParts, PipeSpec } from '../../src/agents/pipe/pipe-agent.ts'
import type { Event } from '../../src/core/talk/entry.ts'
import type { Failure } from '../../src/core/talk/outcome.ts'
import type { Profile } from '../../src/core/profile/profile.ts'
import { pipeAgent } from '../../src/agents/pipe/pipe-agent.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { alive, labelled } from '../base/alive.ts'

const { label, env } = labelled()

/** Commands of this test file that still run. */
export const running = () => alive(label)

/** An agent behind a command of ours, with limits that no test reaches on the real clock. */
export function piped(
  over: Partial<PipeSpec>,
  parts: Partial<PipeParts> = {},
  seat: Parameters<typeof pipeAgent>[1] = { leash: 'ask' },
) {
  const spec = { name: 'sayer', window: 1000, timeoutMs: 60_000, silenceMs: 30_000, ...over }
  return pipeAgent(spec, seat, { blobs: memoryStore().blobs('test'), env, ...parts })
}

/** The failure a turn ended with. */
export function failureIn(events: Event[]): Failure | undefined {
  const end = events.at(-1)
  return end?.type === 'end' && !end.outcome.ok ? end.outcome.failure : undefined
}

/** A profile of a CLI that does not exist. */
export function profileOf(over: Partial<Profile> = {}): Profile {
  return {
    name: 'testcli',
    title: 'Test CLI',
    vendor: 'nobody',
    words: ['testcli'],
    window: 1000,
    command: ({ leash, resume, model }) => `echo ${leash} ${resume ?? 'fresh'} ${model ?? 'any'}`,
    leashes: { read: 'looks', ask: 'looks' },
    speaks: () => false,
    resumes: false,
    failure: () => undefined,
    install: 'npm install -g testcli',
    login: 'testcli login',
    version: 'testcli --version',
    traces: { files: [], env: [] },
    keys: [],
    projectFiles: [],
    ...over,
  }
}
