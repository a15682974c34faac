import type { Failure } from '../../core/talk/outcome.ts'
import type { Agent, Traits } from '../../core/work/agent.ts'
import type { ScreenParts, ScreenSeat, ScreenSpec } from './screen-spec.ts'
import { nobody } from '../../core/talk/question.ts'
import { looser } from '../../core/work/agent.ts'
import { seatedAgent } from '../seat.ts'
import { TurnWatch } from '../turn-watch.ts'
import { readyProgram, TerminalProgram } from './terminal-program.ts'
import { composes, screenStartFailure } from './screen-spec.ts'
import { endProgram, takeScreenTurn } from './screen-turn.ts'

export type { ScreenParts, ScreenSeat, ScreenSpec } from './screen-spec.ts'

/**
 * A program in a terminal that a person can watch and type into. It is opened with the first turn, or taken up where it
 * lives, and stays: its terminal is the thread.
 */
export function screenAgent(spec: ScreenSpec, seat: ScreenSeat, parts: ScreenParts): Agent {
  const sitting = new TerminalProgram(spec, seat, parts)
  const gone = new AbortController()
  const desk = { spec, parts, sitting, gone: gone.signal }
  let working = 0
  const agent = seatedAgent(spec.name, traitsOf(spec, seat), seat, (turn, resume, emit) => {
    working++
    return takeScreenTurn(desk, turn, resume, emit).finally(() => working--)
  })
  return {
    ...agent,
    get terminal() {
      return sitting.terminal
    },
    async start(signal, ask = nobody) {
      const failure = screenStartFailure(spec, seat.leash)
      if (failure) return failure
      const over = new AbortController()
      const watch = new TurnWatch(spec.name, spec, { clock: parts.clock, ask })
      let late: Failure | undefined
      watch.begin(
        over.signal,
        async () => false,
        (failure) => {
          late = failure
          over.abort()
        },
      )
      const waiting = { spec, clock: parts.clock, ask: watch.ask, heard: () => watch.heard(), state: async () => {} }
      const stop = AbortSignal.any([signal, gone.signal, over.signal])
      const took = await readyProgram(sitting, seat.resume, seat.leash, { ...waiting, signal: stop })
      over.abort()
      if (took) return 'failure' in took ? took.failure : undefined
      return late ?? { kind: 'aborted', message: `${spec.name} was cancelled before it was ready` }
    },
    async leave() {
      gone.abort()
      await agent.close()
    },
    async close() {
      const atRest = working === 0
      gone.abort()
      await agent.close()
      await endProgram(sitting, atRest, parts.clock)
    },
  }
}

function traitsOf(spec: ScreenSpec, { leash }: ScreenSeat): Traits {
  const { profile } = spec
  const held = composes(spec) ? (profile?.screen?.leashes ?? {}) : {}
  const more = looser(leash, held)
  return {
    window: spec.window,
    memory: 'own',
    talks: held[leash] !== undefined,
    steers: false,
    ...(profile ? { vendor: profile.vendor, login: profile.login } : {}),
    ...(more ? { looser: more } : {}),
  }
}
