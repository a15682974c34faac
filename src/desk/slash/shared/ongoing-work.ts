import type { CommandWorld } from '../../../core/talk/command.ts'
import type { DeskControls, TurnEnd } from '../../desk-controls.ts'
import { oneLine } from '../../../base/text/table.ts'
import { UsageError } from '../../../core/io.ts'

const mostNamed = 100

/** `--max N` in front of the rest of the words. */
export function withMost(args: string): { most?: number; rest: string } {
  const typed = args.trim()
  const [, number, rest = ''] = /^--max(?:(?:=|\s+)(\S*)|$)\s*([^]*)$/.exec(typed) ?? []
  if (number === undefined && typed !== '--max') return { rest: typed }
  const most = /^\d+$/.test(number ?? '') ? Number(number) : 0
  if (most < 1 || most > mostNamed)
    throw new UsageError(`--max is a number of turns from 1 to ${mostNamed}${number ? `, not "${number}"` : ''}.`)
  return { most, rest: rest.trim() }
}

export const mostTurns = (count: number): string => `${count} ${count === 1 ? 'turn' : 'turns'}`

/** Why nothing goes on after this turn, as a sentence; undefined if it may go on. */
export function endOfTurn({ outcome, declined }: TurnEnd): string | undefined {
  if (outcome && !outcome.ok && outcome.failure.kind !== 'aborted') return outcome.failure.message
  if (declined !== undefined) return `a question was declined: ${oneLine(declined, 200)}`
  if (!outcome) return 'the turn could not begin'
  if (!outcome.ok) return 'its turn was cancelled'
  return outcome.refused ? 'the model declined to answer' : undefined
}

/** Something that goes on turn after turn by itself, named by its check or its prompt. */
type Ongoing = { kind: 'goal' | 'loop'; words: string }

const nameOf = ({ kind, words }: Ongoing) => `${kind} “${oneLine(words, 100)}”`

/** The one thing that goes on at a desk. */
export class OngoingWork {
  #now: (Ongoing & { stop: AbortController }) | undefined

  /** Answers `off` and a call without words, which change or show what goes on; false if these words begin something new. */
  told(args: string, { say }: CommandWorld, kind: Ongoing['kind']): boolean {
    const word = args.trim()
    const now = this.#now
    if (now && word === '') say(`The ${nameOf(now)} goes on. /${now.kind} off ends it.`, 'note')
    else if (word === 'off') {
      if (now?.kind !== kind) throw new UsageError(`no ${kind} goes on.`)
      now.stop.abort()
    } else if (now && word !== '') throw new UsageError(`the ${nameOf(now)} goes on already. /${now.kind} off ends it.`)
    else return false
    return true
  }

  begin(what: Ongoing): AbortSignal {
    const stop = new AbortController()
    this.#now = { ...what, stop }
    return stop.signal
  }

  end(): void {
    this.#now = undefined
  }
}

/**
 * Runs something that goes on by itself until it ends, the person ends it, they open another session, or they leave the chat. How it ended
 * is said, and kept, so that the conversation says so when it is opened again.
 */
export async function runOngoing(
  controls: DeskControls,
  { say, signal }: CommandWorld,
  ongoing: OngoingWork,
  what: Ongoing,
  work: (signal: AbortSignal) => Promise<string | undefined>,
): Promise<void> {
  const off = ongoing.begin(what)
  const left = controls.leftSession()
  const { conversation } = controls.app()
  let text: string
  try {
    const byPerson = () => (left.aborted ? 'you opened another session' : 'you ended it, or left the chat')
    const how = (await work(AbortSignal.any([signal, off, left]))) ?? byPerson()
    text = `The ${nameOf(what)} is over: ${how}.`.replace(/([.?!])\.$/, '$1')
    await conversation.append({ type: 'note', text }, 'termaite')
  } finally {
    ongoing.end()
    controls.showProgress(undefined)
  }
  say(text, 'note')
}
