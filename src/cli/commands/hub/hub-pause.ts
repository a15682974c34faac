import type { HubClient } from '../../../hub/client/hub-client.ts'
import type { PauseTarget } from '../../../hub/client/operator-client.ts'
import type { Io } from '../../../core/io.ts'
import type { AgentNow } from '../../../hub/model/hub-state.ts'
import type { Parsed } from '../../arguments/cli-command.ts'
import { stripAnsi } from '../../../base/text/ansi.ts'
import { defined } from '../../../base/defined.ts'
import { print, say, UsageError } from '../../../core/io.ts'
import { shortId, withHub } from '../../../hub/client/hub-client.ts'

/** The words after `termaite hub` with which an operator stops or resumes giving out tasks. */
export const pauseVerbs = ['pause', 'drain', 'resume'] as const

export const isPauseVerb = (word: string): word is (typeof pauseVerbs)[number] =>
  (pauseVerbs as readonly string[]).includes(word)

type Call = { verb: (typeof pauseVerbs)[number]; values: Parsed['values']; words: readonly string[] }

/** How often to ask the hub whether the last task is finished. */
const paceMs = 1_000
/** The most agents that a line names. */
const mostNamed = 5

/** Pauses, drains or resumes an agent, a machine or the whole hub. */
export async function runPause(io: Io, { verb, values, words }: Call): Promise<number> {
  const target = targetIn(verb, words)
  const why = typeof values.why === 'string' ? values.why : undefined
  if (values.wait && verb !== 'drain') throw new UsageError(`--wait is for hub drain, not ${verb}.`)
  if (why !== undefined && verb === 'resume') throw new UsageError('--why is for hub pause and drain, not resume.')
  const server = typeof values.server === 'string' ? values.server : undefined
  await withHub(
    io,
    async (hub) => {
      if (verb === 'resume') await hub.operators.resume(target)
      else await hub.operators.pause(target, defined({ why, drain: verb === 'drain' ? true : undefined }))
      const agents = await agentsOf(hub, target)
      const subject = subjectOf(target)
      if (verb === 'resume') return reportAgents(io, values, agents, `${subject} tasks again.`)
      if ('machine' in target && agents.length === 0)
        say(io, `No agent at the hub is on a machine ${target.machine} yet: the order counts when one comes.`)
      const head = `${subject} no new tasks until: termaite hub resume${wordsAfter(words)}.`
      if (verb === 'pause' || !values.wait)
        return reportAgents(io, values, agents, `${head} ${workingWords(agents) ?? upper(noTask(target))}`)
      if (!values.json) say(io, head)
      reportAgents(io, values, await waitForIdle(io, hub, target), `${nameOf(target)} is drained: ${noTask(target)}`)
    },
    server,
  )
  return 0
}

/** Waits until no agent of the target has a task, and reports each change of the agents that still have one. */
async function waitForIdle(io: Io, hub: HubClient, target: PauseTarget): Promise<AgentNow[]> {
  for (let last = ''; ;) {
    const agents = await agentsOf(hub, target)
    const words = workingWords(agents)
    if (words === undefined) return agents
    if (words !== last) say(io, words)
    last = words
    await io.clock.sleep(paceMs, io.signal)
    if (io.signal.aborted) throw new UsageError(`No longer waiting; the pause stays. ${words}`, 1)
  }
}

async function agentsOf(hub: HubClient, target: PauseTarget): Promise<AgentNow[]> {
  if ('agent' in target) return [await hub.agent(target.agent)]
  const all = await hub.agents()
  return 'machine' in target ? all.filter(({ status }) => status?.machine === target.machine) : all
}

function reportAgents(io: Io, values: Parsed['values'], agents: readonly AgentNow[], words: string): void {
  if (!values.json) return say(io, words)
  const working = agents.flatMap(({ id, task }) => (task === undefined ? [] : [{ agent: id, task }]))
  print(io, JSON.stringify({ agents: agents.map(({ id }) => id), working }))
}

/** Names the agents that still have a task: "2 agents still work: a (task 1f2e3d4c) and b (…)."; undefined if no agent has one. */
function workingWords(agents: readonly AgentNow[]): string | undefined {
  const working = agents.flatMap(({ id, task }) => (task === undefined ? [] : [`${stripAnsi(id)} (${shortId(task)})`]))
  if (working.length === 0) return undefined
  const rest = working.length - mostNamed
  const named = [...working.slice(0, mostNamed), ...(rest > 0 ? [`${rest} more`] : [])].join(', ')
  return `${working.length === 1 ? '1 agent still works' : `${working.length} agents still work`}: ${named}.`
}

function targetIn(verb: string, words: readonly string[]): PauseTarget {
  const [kind, name, ...more] = words
  if (kind === undefined || (kind === 'hub' && name === undefined)) return { hub: true }
  if (name !== undefined && more.length === 0) {
    if (kind === 'agent') return { agent: name }
    if (kind === 'machine') return { machine: name }
  }
  throw new UsageError(
    `hub ${verb}: found "${words.join(' ')}", allowed: agent <id>, machine <name>, or nothing for the whole hub.`,
  )
}

const wordsAfter = (words: readonly string[]) => words.map((word) => ` ${word}`).join('')

const nameOf = (target: PauseTarget) =>
  'agent' in target ? `Agent ${target.agent}` : 'machine' in target ? `Machine ${target.machine}` : 'The hub'

/** The beginning of a sentence that ends with "tasks". */
const subjectOf = (target: PauseTarget) => `${nameOf(target)} ${'hub' in target ? 'gives out' : 'is given'}`

const noTask = (target: PauseTarget) =>
  'agent' in target ? 'it has no task.' : 'machine' in target ? 'no agent there has a task.' : 'no agent has a task.'

const upper = (words: string) => words.charAt(0).toUpperCase() + words.slice(1)
