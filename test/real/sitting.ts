import type { Entry, Event } from '../../src/core/talk/entry.ts'
import type { Question } from '../../src/core/talk/question.ts'
import type { Agent } from '../../src/core/work/agent.ts'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { screenAgent } from '../../src/agents/screen/screen-agent.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { randomName } from '../../src/base/id.ts'
import { carries, processTable } from '../../src/base/process/process-table.ts'
import { Conversation } from '../../src/core/work/conversation.ts'
import { profileNamed } from '../../src/profiles/all.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { ptyHost } from '../../src/terminals/pty/pty-host.ts'
import { tmuxHost } from '../../src/terminals/tmux/tmux-host.ts'
import { modelServer } from './model-server.ts'
import { scenes } from './scenes.ts'
import { screenRig } from './screen-rig.ts'

export type Kind = 'tmux' | 'pty'

/** Picks an option by its label; undefined is nobody's answer. */
export type Answers = (question: Question) => string | undefined

/** A conversation with a real CLI that sits in a real terminal, and whose model is a script. */
export async function sitting(cli: string, kind: Kind) {
  let cwd = ''
  const server = await modelServer(scenes(cli, () => cwd))
  const place = await screenRig(cli, server.url)
  cwd = place.cwd
  const env: Record<string, string | undefined> = { ...place.env, TMUX_TMPDIR: place.root }
  const socket = `termaite-real-${randomName()}`
  const hostParts = { folder: join(place.root, 'terminals'), env, clock: realClock, socket }
  const host = kind === 'tmux' ? tmuxHost(hostParts) : ptyHost(hostParts)
  const store = memoryStore()
  const log = store.log<Entry>('history')
  const kept = { log, blobs: store.blobs('output'), session: 's', clock: realClock, owner: 'me', alive: () => true }
  const conversation = new Conversation(kept)
  const profile = profileNamed(cli)!
  const spec = { name: cli, profile, window: profile.window, timeoutMs: 120_000, silenceMs: 60_000, fence: false }
  const parts = { host: async () => host, clock: realClock, home: env.HOME!, env, temp: place.root }
  const asked: Question[] = []

  const asking = (answers: Answers) => async (question: Question) => {
    asked.push(question)
    const label = answers(question)
    const option = question.options.find((one) => one.label === label)
    if (label !== undefined && !option) throw new Error(`no option is called ${label}: ${JSON.stringify(question)}`)
    return option && [option.id]
  }

  return {
    server,
    cwd,
    asked,
    agent: () => screenAgent(spec, { cwd, leash: 'ask' }, parts),
    start: (agent: Agent, answers: Answers) => agent.start!(new AbortController().signal, asking(answers)),
    /** One turn; all its events. */
    async say(agent: Agent, prompt: string, answers: Answers = () => undefined, stop?: AbortController) {
      const events: Event[] = []
      const signal = stop?.signal ?? new AbortController().signal
      const world = { cwd, leash: 'ask' as const, signal, ask: asking(answers), attended: true }
      let shown: string[] = []
      for await (const event of conversation.converse(agent, prompt, world)) {
        events.push(event)
        // A turn that took too long is told apart by its screen.
        if (event.type === 'end' && !event.outcome.ok && event.outcome.failure.kind === 'timeout')
          shown = (await agent.terminal?.screen())?.rows ?? []
      }
      if (shown.length > 0) console.error([...events.map((event) => JSON.stringify(event)), ...shown].join('\n'))
      return events
    },
    /** The processes that still run in its home. */
    async left(): Promise<number[]> {
      const pids = (await processTable()).map(({ pid }) => pid)
      const ours = await Promise.all(pids.map((pid) => carries(pid, place.root)))
      return pids.filter((_pid, at) => ours[at])
    },
    async [Symbol.asyncDispose]() {
      await host.close()
      if (kind === 'tmux') spawnSync('tmux', ['-L', socket, 'kill-server'], { env })
      await server.close()
      await place[Symbol.asyncDispose]()
    },
  }
}
