import type { Failure } from '../../core/talk/outcome.ts'
import type { Agent, Traits } from '../../core/work/agent.ts'
import type { ScreenParts, ScreenSeat, ScreenSpec } from './screen-spec.ts'
import { nobody } from '../../core/talk/question.ts'
import { profileTraits, seatedAgent } from '../seat.ts'
import { TurnWatch } from '../turn-watch.ts'
import { readyProgram, TerminalProgram } from './screen-program.ts'
import { composes, screenStartFailure } from './screen-spec.ts'
import { endProgram, takeScreenTurn } from './screen-turn.ts'

export type { ScreenParts, ScreenSeat, ScreenSpec } from './screen-spec.ts'

/**
 * An agent that is a program in a terminal, which a person can watch and type into. The first turn starts the program, or finds a running
 * one. The program stays open: its terminal is the thread.
 */
export function screenAgent(spec: ScreenSpec, seat: ScreenSeat, parts: ScreenParts): Agent {
  const program = new TerminalProgram(spec, seat, parts)
  const gone = new AbortController()
  const turnParts = { spec, parts, program, gone: gone.signal }
  let working = 0
  const agent = seatedAgent(spec.name, traitsOf(spec, seat), seat, (turn, resume, emit) => {
    working++
    return takeScreenTurn(turnParts, turn, resume, emit).finally(() => working--)
  })
  return {
    ...agent,
    get terminal() {
      return program.terminal
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
      const took = await readyProgram(program, seat.resume, seat.leash, { ...waiting, signal: stop })
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
      await endProgram(program, atRest, parts.clock)
      await program.settled
    },
  }
}

function traitsOf(spec: ScreenSpec, { leash }: ScreenSeat): Traits {
  const { profile } = spec
  const held = composes(spec) ? (profile?.screen?.leashes ?? {}) : {}
  return {
    window: spec.window,
    memory: 'own',
    talks: held[leash] !== undefined,
    steers: false,
    ...profileTraits(profile, leash, held),
  }
}
