import type { AgentRest } from './machine-rules.ts'
import { sizeWords } from '../../../base/text/size-words.ts'
import { littleDisk } from '../../../core/work/full-disk.ts'
import { pauseWords } from './machine-rules.ts'

/** An agent's report about itself. Every field is optional: an older agent, or one that uses MCP, reports nothing. */
export type AgentStatus = {
  /** The name of the machine on which the agent runs. */
  machine?: string
  /** The thinking framework that is active in the agent's turn. */
  framework?: string
  /** The free part of the agent's context window, from 0 to 1. */
  contextLeft?: number
  /** The free bytes of the disk that the agent works on, roughly. */
  diskFree?: number
  /** When the agent's quota comes back, the provider's message about it, and when the agent reported both. */
  parkedUntil?: number
  parkedWhy?: string
  parkedAt?: number
}

/** The free space of the disks on which each machine's agents work; of several disks the fullest one counts. */
export function diskByMachine(agents: Iterable<{ status?: AgentStatus | undefined }>): Map<string, number> {
  const free = new Map<string, number>()
  for (const { status: { machine, diskFree } = {} } of agents)
    if (machine !== undefined && diskFree !== undefined)
      free.set(machine, Math.min(diskFree, free.get(machine) ?? Infinity))
  return free
}

/** The free space of a machine as text, with a warning if it is little. */
export const diskWords = (free: number) => `${sizeWords(free)} free${free < littleDisk ? ', nearly full' : ''}`

/** A message that a person sent to an agent. */
export type AgentMessage = {
  at: number
  by: string
  text: string
  /** The request that sent the message, if its client may repeat it. */
  request?: string
}

/** Whether an agent waits for a prompt, whether it is present, and when it last sent something. */
export type AgentStanding = { id: string; waits: boolean; about: boolean; seen: number }

/** The states of an agent; states that need a person's attention come first. */
export const agentStates = ['asking', 'parked', 'working', 'paused', 'waiting', 'idle', 'offline'] as const

export type AgentState = (typeof agentStates)[number]

/** Everything that determines the state of an agent; `task` is the task that it has, `rests` says why it gets no task. */
type Known = {
  asks?: unknown
  status?: AgentStatus
  waits?: boolean
  about?: boolean
  task?: unknown
  rests?: AgentRest
}

/**
 * The state of an agent, by the same rule on every screen. A working agent may be silent for long without counting as offline, because
 * its task is taken back when it is silent for too long.
 */
export function agentState({ asks, status, waits, about, task, rests }: Known, now: number): AgentState {
  if (!about && !waits && task === undefined) return 'offline'
  if (asks !== undefined) return 'asking'
  if ((status?.parkedUntil ?? 0) > now) return 'parked'
  if (task !== undefined) return 'working'
  if (rests && 'pause' in rests) return 'paused'
  return waits ? 'waiting' : 'idle'
}

/** The state as text; `when` formats a time in the reader's own zone. */
export function stateWords(agent: Known, now: number, when: (at: number) => string): string {
  const state = agentState(agent, now)
  if (state === 'parked') return `parked until ${when(agent.status?.parkedUntil ?? now)}`
  const { rests } = agent
  if (!rests || !('pause' in rests) || (state === 'offline' && rests.of !== 'agent')) return state
  const pause = pauseWords(rests.pause, agent.task === undefined ? 0 : 1)
  const whole = rests.of === 'agent' ? pause : `${rests.of === 'hub' ? 'the hub' : 'its machine'} is ${pause}`
  if (state === 'paused') return rests.of === 'agent' ? pause : `paused: ${whole}`
  return `${state}; ${whole}`
}
