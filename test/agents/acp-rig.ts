import { memoryStore } from '../../src/store/memory-store.ts'
import type { ClientRequestMethod, NewSessionResponse, StopReason } from '@agentclientprotocol/sdk'
import type { AcpParts } from '../../src/agents/acp/acp-agent.ts'
import type { PipeSpec } from '../../src/agents/pipe/pipe-command.ts'
import type { Event } from '../../src/core/talk/entry.ts'
import type { Question } from '../../src/core/talk/question.ts'
import type { Leash, Turn } from '../../src/core/work/agent.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { acpAgent } from '../../src/agents/acp/acp-agent.ts'
import { alive, labelled } from '../base/alive.ts'
import { eventsOf, turnOf } from '../contract/agent.ts'
import { frameFaults } from './acp-frames.ts'

const { label, env } = labelled()

/** Agents of this test file that still run. */
export const running = () => alive(label)

type Wrong = { code: number; message: string; data?: unknown }

/**
 * The steps of a scripted agent after a prompt, in order. `$CWD` stands for its working folder, `"$1"` for its first terminal, `$PID` for its
 * process and `$N` for the number of the prompt.
 */
export type AcpStep =
  | { say: string }
  | { update: object }
  | { request: ClientRequestMethod; params: object; fails?: boolean }
  | { raw: string }
  | { complain: string }
  | { exit: number }
  /** The whole process stops, and only a signal can end it. */
  | { freeze: true }
  /** A command that goes on beside the agent. */
  | { spawn: string }
  | { error: Wrong }
  /** Until it is cancelled; `deaf` not even then. */
  | { hang: true | 'deaf' }

export type AcpScript = {
  steps: AcpStep[]
  /** The steps after each further prompt; the last ones are repeated, and without any the first ones are. */
  later?: AcpStep[][]
  /** The steps between the first two turns, once `goOn` was called. */
  between?: AcpStep[]
  stop?: StopReason
  reply?: object
  session?: string
  version?: number
  loads?: boolean
  resumes?: boolean
  /** Whether the agent says that it takes pictures. */
  takesPictures?: boolean
  /** Whether the agent says that it takes further folders. */
  takesFolders?: boolean
  replays?: object[]
  made?: Partial<NewSessionResponse>
  newError?: Wrong
  loadError?: Wrong
  modeError?: Wrong
  /** What the agent says of its options when one is set. */
  options?: NewSessionResponse['configOptions']
  /** Whether the agent stays when its input ends. */
  stays?: boolean
}

/** The SDK is compiled once for all agents of a test file. */
const cache = mkdtempSync(join(tmpdir(), 'termaite-acp-cache-'))
process.on('exit', () => rmSync(cache, { recursive: true, force: true }))

const program = join(import.meta.dirname, 'acp-agent.ts')

/** A project of its own, and what a scripted agent did there. */
export type Ground = {
  cwd: string
  agent(
    script: AcpScript,
    over?: Partial<PipeSpec>,
    leash?: Leash,
    parts?: Partial<AcpParts>,
  ): ReturnType<typeof acpAgent>
  /** Every message it was sent, in order. */
  sent(): Promise<any[]>
  /** Our answers to its requests, in order. */
  answers(): Promise<any[]>
  /** Every message that it sent, in order. */
  said(): Promise<any[]>
  /** Lets it act between two turns. */
  goOn(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export async function ground(): Promise<Ground> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'termaite-acp-')))
  const cwd = join(root, 'project')
  await mkdir(join(cwd, '.git'), { recursive: true })
  const lines = async (name: string) => {
    const text = await readFile(join(root, `${name}.jsonl`), 'utf8').catch(() => '')
    return text.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))
  }
  const sent = () => lines('in')
  return {
    cwd,
    agent: (script, over = {}, leash = 'ask', parts = {}) =>
      acpAgent(
        {
          name: 'sayer',
          command: process.execPath,
          args: ['--disable-warning=ExperimentalWarning', program, JSON.stringify(script), root],
          window: 1000,
          timeoutMs: 60_000,
          silenceMs: 30_000,
          ...over,
        },
        { leash },
        { blobs: memoryStore().blobs('pictures'), env: { ...env, NODE_COMPILE_CACHE: cache }, ...parts },
      ),
    sent,
    answers: async () => (await sent()).filter((message) => message.method === undefined),
    said: () => lines('out'),
    goOn: () => writeFile(join(root, 'go'), ''),
    async [Symbol.asyncDispose]() {
      const faults = frameFaults(await sent(), await lines('out'))
      await rm(root, { recursive: true, force: true, maxRetries: 5 })
      if (faults.length > 0) throw new Error(`frames that the schema does not allow:\n${faults.join('\n')}`)
    },
  }
}

/** One turn of a scripted agent, and what it was told. */
export async function played(
  it: Ground,
  script: AcpScript,
  { leash = 'ask', over = {}, ...turn }: Partial<Turn> & { over?: Partial<PipeSpec> } = {},
): Promise<Event[]> {
  const agent = it.agent(script, over, leash)
  const events = await eventsOf(agent, turnOf({ cwd: it.cwd, leash, ...turn }))
  await agent.close()
  return events
}

/** A person who picks these, card after card, and keeps the cards. */
export function person(...picks: (string[] | undefined)[]) {
  const cards: Question[] = []
  const ask = async (question: Question) => picks[cards.push(question) - 1]
  return { cards, ask }
}
