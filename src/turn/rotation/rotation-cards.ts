import type { Failure, Outcome } from '../../core/talk/outcome.ts'
import type { Agent, Looser, Turn } from '../../core/work/agent.ts'
import type { Absent } from './no-answer.ts'
import { localTimeFrom } from '../../base/time/local-time.ts'
import { failed } from '../../core/talk/outcome.ts'
import { consentOptions } from '../../core/talk/consent.ts'
import { awayWords } from './no-answer.ts'

/** Asks whether an agent of another vendor may see the conversation. */
export async function askToShare(turn: Turn, agent: Agent, vendor: string): Promise<boolean> {
  const who = vendor === agent.name ? agent.name : `${agent.name} (${vendor})`
  const picks = await turn.ask(
    {
      about: 'sharing',
      text: `${who} has not seen this conversation yet. Share it?`,
      from: [],
      agent: agent.name,
      options: consentOptions({
        always: {
          id: 'yes',
          label: `Yes, share it with ${vendor}`,
          grants: `this conversation with ${vendor} until you start a new session`,
        },
        no: { id: 'no', label: `No, skip ${agent.name}` },
      }),
    },
    turn.signal,
  )
  return picks?.includes('yes') ?? false
}

/** The actions that were denied to an agent, in its own words; empty if nothing was denied. */
export function denialsOf(outcome: Outcome): readonly string[] {
  if (outcome.ok) return outcome.denials ?? []
  return outcome.failure.kind === 'denied' ? [outcome.failure.message] : []
}

/** Asks for the looser leash that the denied actions need; undefined if the person changes nothing. */
export async function askAllow(turn: Turn, agent: Agent, denials: readonly string[]): Promise<Looser | undefined> {
  const { looser } = agent.traits
  if (!looser) return undefined
  const picks = await turn.ask(
    {
      about: 'denied',
      text: `${agent.name} was not allowed to do everything it wanted.`,
      from: [],
      agent: agent.name,
      shows: denials.map((text) => ({ type: 'text', text })),
      options: consentOptions({
        once: {
          id: 'allow',
          label: 'Yes, for this turn alone, and try again',
          grants: `leash ${looser.leash}: ${looser.means}`,
        },
        no: { id: 'leave', label: 'No, leave it undone' },
      }),
    },
    turn.signal,
  )
  return picks?.includes('allow') ? looser : undefined
}

/** Asks the person to log the agent in; true if the agent should be tried again. */
export async function askLogin(turn: Turn, agent: Agent, failure: Failure, next: string | undefined): Promise<boolean> {
  const { login } = agent.traits
  const picks = await turn.ask(
    {
      about: 'login',
      text: `${agent.name} is not logged in: ${failure.message}`,
      from: [],
      agent: agent.name,
      shows: login === undefined ? undefined : [{ type: 'command', command: login, cwd: turn.cwd }],
      options: consentOptions({
        once: { id: 'again', label: 'I have logged in, try again' },
        no: { id: 'next', label: next === undefined ? `Continue without ${agent.name}` : `Continue with ${next}` },
      }),
      // Even a "no" starts another agent and costs something.
      unanswered: 'stop here and keep the text',
      cancels: true,
    },
    turn.signal,
  )
  return picks?.includes('again') ?? false
}

/** How long the card about a spent quota is shown before the turn continues with the next agent. */
const handOverMs = 10_000

/**
 * Asks what to do about a spent quota while another agent is free: returns the outcome that ends the turn, or undefined to continue with
 * the other agent.
 */
export async function askHandOver(
  turn: Turn,
  spent: { name: string; until: number; stated: boolean },
  next: string,
): Promise<Outcome | undefined> {
  const now = turn.clock.now()
  const back = localTimeFrom(now, spent.until)
  const picks = await turn.ask(
    {
      about: 'quota',
      text: spent.stated
        ? `${spent.name} is out of quota until ${back}.`
        : `${spent.name} is out of quota and does not say until when; termaite tries it again after ${back}.`,
      from: [],
      agent: spent.name,
      options: consentOptions({
        once: { id: 'hand over', label: `Hand over to ${next} now` },
        no: stopOption,
        others: [waitOption(spent.name, back)],
      }),
      otherwise: { pick: 'hand over', at: now + handOverMs },
    },
    turn.signal,
  )
  return waitOrStop(picks, spent.name, spent.until, 'quota')
}

/**
 * Asks what to do while the agent that the person chose is unavailable: 'try' it anyway, the outcome that ends the turn, or undefined to
 * skip it.
 */
export async function askAbsence(
  turn: Turn,
  { name, away }: Absent,
  next: string | undefined,
): Promise<Outcome | 'try' | undefined> {
  const now = turn.clock.now()
  const back = localTimeFrom(now, away.until)
  const picks = await turn.ask(
    {
      about: 'quota',
      text: `You chose ${name}, but it is ${awayWords(away, now)}.`,
      from: [],
      agent: name,
      options: consentOptions({
        once: { id: 'skip', label: next === undefined ? `Continue without ${name}` : `Let ${next} answer instead` },
        no: stopOption,
        others: [{ id: 'try', label: `Ask ${name} anyway` }, waitOption(name, back)],
      }),
    },
    turn.signal,
  )
  if (picks?.includes('try')) return 'try'
  return waitOrStop(picks, name, away.until, away.as === 'parked' ? 'quota' : 'busy')
}

/** Asks whether to wait while no agent is free: returns the outcome that ends the turn, or undefined without an answer. */
export async function askWait(turn: Turn, { name, away }: Absent): Promise<Outcome | undefined> {
  const back = localTimeFrom(turn.clock.now(), away.until)
  const picks = await turn.ask(
    {
      about: 'quota',
      text: `No agent is free. ${name} is the first one back, at ${back}.`,
      from: [],
      agent: name,
      options: consentOptions({ once: waitOption(name, back), no: stopOption }),
    },
    turn.signal,
  )
  return waitOrStop(picks, name, away.until, away.as === 'parked' ? 'quota' : 'busy')
}

const waitOption = (name: string, back: string) => ({
  id: 'wait',
  label: `Wait for ${name} until ${back}, then continue automatically`,
})

const stopOption = { id: 'stop', label: 'Stop the turn' }

function waitOrStop(
  picks: string[] | undefined,
  name: string,
  until: number,
  kind: 'quota' | 'busy',
): Outcome | undefined {
  if (picks?.includes('wait')) return failed(kind, `waiting for ${name}`, until)
  return picks?.includes('stop') ? failed('aborted', `stopped instead of waiting for ${name}`) : undefined
}
