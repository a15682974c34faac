import type { Event } from '../core/talk/entry.ts'
import type { Agent, ForeseenTurn, Leash, Traits, Turn } from '../core/work/agent.ts'
import type { Outcome } from '../core/talk/outcome.ts'
import type { RecordedAnswers } from '../core/talk/question.ts'
import type { Profile } from '../core/profile/profile.ts'
import type { OurStretch } from '../core/profile/past-session.ts'
import { Channel } from '../base/channel.ts'
import { defined } from '../base/defined.ts'
import { messageOf } from '../base/error-message.ts'
import { refusedPathWords } from '../base/files/system-error.ts'
import { OptionValueError } from '../base/option-value.ts'
import { failed } from '../core/talk/outcome.ts'
import { looser, tighter } from '../core/work/agent.ts'

/** Sends an event of a turn outward; resolves when there is room for the next one. */
export type Emit = (event: Event) => Promise<void>

/** Runs one turn and emits its events, the `end` last. `resume` is the key of the thread to resume. */
type TakeTurn = (turn: Turn, resume: string | undefined, emit: Emit) => Promise<void>

/** Starts the process of a turn before its prompt. `resume` is the key of the thread to resume. */
type PrepareTurn = (next: ForeseenTurn, resume: string | undefined) => Promise<void>

/**
 * The place of an agent: its leash, the key of its thread, and a recorder for the answers to its questions. `began` records a session of
 * the CLI that works for us, before the turn shows it and again at the end of the turn.
 */
export type Seat = {
  leash: Leash
  resume?: string | undefined
  began?: ((stretch: OurStretch) => void) | undefined
  recorded?: ((turn: Turn) => RecordedAnswers) | undefined
}

/**
 * Makes an agent from a function that runs its turns. The agent follows the tighter of its own leash and the turn's, can be left or
 * closed at any moment, and never throws. `prepare` is left out if its process cannot wait for a turn.
 */
export function seatedAgent(name: string, traits: Traits, seat: Seat, take: TakeTurn, prepare?: PrepareTurn): Agent {
  const close = new AbortController()
  let { resume } = seat
  let work: Promise<void> = Promise.resolve()
  return {
    name,
    traits,
    ...(prepare && {
      prepare: (next: ForeseenTurn) =>
        // If preparing fails, the turn starts again and reports the error.
        prepare({ ...next, leash: tighter(seat.leash, next.leash) }, resume).catch(() => {}),
    }),
    async *turn(turn) {
      const leave = new AbortController()
      const out = new Channel<Event>(64)
      const signal = AbortSignal.any([turn.signal, leave.signal, close.signal])
      const key = resume
      resume = undefined
      const leash = tighter(seat.leash, turn.leash)
      const answers = seat.recorded?.(turn)
      const from = turn.clock.now()
      const keys = new Set<string>()
      let counted = false
      const record = (key: string) => seat.began?.({ key, cwd: turn.cwd, from, to: turn.clock.now(), counted })
      const emit: Emit = async (event) => {
        if (event.type === 'usage') counted = true
        if (event.type === 'thread' && !keys.has(event.key)) record(event.key)
        if (event.type === 'thread') keys.add(event.key)
        if (event.type === 'end') {
          keys.forEach(record)
          await answers?.settle()
        }
        for (const text of answers?.notes.splice(0) ?? []) await out.push({ type: 'note', text, by: 'termaite' })
        return out.push(event)
      }
      work = take({ ...turn, leash, signal, ask: answers?.ask ?? turn.ask }, key, emit)
        .catch((error) => emit({ type: 'end', outcome: brokenTurn(name, error) }))
        .finally(() => out.close())
      try {
        yield* out
      } finally {
        leave.abort()
        await work
      }
    },
    async close() {
      close.abort()
      await work
    },
  }
}

/**
 * The outcome of a turn that threw: a value that could be mistaken for a flag stops a command, the system may refuse a file, and
 * everything else is a bug of ours.
 */
function brokenTurn(name: string, error: unknown): Outcome {
  if (error instanceof OptionValueError) return failed('missing', `${name} was not started: ${messageOf(error)}`)
  const refused = refusedPathWords(error)
  return failed(
    'crash',
    refused === undefined
      ? `${name} failed unexpectedly: ${String(error)}`
      : `${name} was not started: termaite ${refused}`,
  )
}

/** The traits that every kind of agent gets from its profile; `leashes` are those that this way of running it can enforce. */
export function profileTraits(
  profile: Profile | undefined,
  leash: Leash,
  leashes: Profile['leashes'] = {},
): Pick<Traits, 'vendor' | 'login' | 'looser'> {
  return defined({ vendor: profile?.vendor, login: profile?.login, looser: looser(leash, leashes) })
}
