import type { Outcome } from '../../core/talk/outcome.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { Away } from '../health.ts'
import { momentFrom } from '../../base/moment.ts'
import { failed } from '../../core/talk/outcome.ts'

/** How long a spent quota may be looked at before the turn goes on by itself. */
const handOverMs = 10_000

const stop = { id: 'stop', label: 'Stop the turn' }

/** A quota is spent and somebody else could go on: the outcome that ends the turn, or undefined to hand over. */
export async function askHandOver(
  turn: Turn,
  spent: { name: string; until: number; stated: boolean },
  next: string,
): Promise<Outcome | undefined> {
  const now = turn.clock.now()
  const back = momentFrom(now, spent.until)
  const picks = await turn.ask(
    {
      about: 'quota',
      text: spent.stated
        ? `${spent.name} has spent its quota until ${back}.`
        : `${spent.name} has spent its quota and does not say until when; it is asked again after ${back}.`,
      from: [],
      agent: spent.name,
      options: [{ id: 'hand over', label: `Hand over to ${next} now` }, wait(spent.name, back), stop],
      otherwise: { pick: 'hand over', at: now + handOverMs },
    },
    turn.signal,
  )
  return decided(picks, spent.name, spent.until, 'quota')
}

/** Nobody is free now: the outcome that ends the turn, or undefined when nobody answered. */
export async function askWait(turn: Turn, first: { name: string; away: Away }): Promise<Outcome | undefined> {
  const { name, away } = first
  const back = momentFrom(turn.clock.now(), away.until)
  const picks = await turn.ask(
    {
      about: 'quota',
      text: `No agent is free. ${name} is the first one back, at ${back}.`,
      from: [],
      agent: name,
      options: [wait(name, back), stop],
    },
    turn.signal,
  )
  return decided(picks, name, away.until, away.as === 'parked' ? 'quota' : 'busy')
}

const wait = (name: string, back: string) => ({
  id: 'wait',
  label: `Wait for ${name} until ${back}, then go on by itself`,
})

function decided(
  picks: string[] | undefined,
  name: string,
  until: number,
  kind: 'quota' | 'busy',
): Outcome | undefined {
  if (picks?.includes('wait')) return failed(kind, `${name} is waited for`, until)
  return picks?.includes('stop') ? failed('aborted', `stopped: ${name} was not waited for`) : undefined
}
