import type { Component } from '@earendil-works/pi-tui'
import type { Clock } from '../../../base/clock.ts'
import type { AgentStanding, Standing } from '../chat-desk.ts'
import type { Theme } from '../theme.ts'
import type { Segment } from './line-segments.ts'
import { clockTime, cost, tokens } from '../numbers.ts'
import { oneLine } from '../transcript/screen-text.ts'
import { fitSegments } from './line-segments.ts'
import { stateNames } from '../chat-desk.ts'

const marks = { ready: '●', busy: '◐', 'cooling down': '◌', parked: '○', out: '✗' } as const

/** The standing of the desk, in exactly one line. */
export class StatusLine implements Component {
  #theme: Theme
  #clock: Clock
  #standing: () => Standing

  constructor(theme: Theme, clock: Clock, standing: () => Standing) {
    this.#theme = theme
    this.#clock = clock
    this.#standing = standing
  }

  invalidate(): void {}

  render(width: number): string[] {
    return [
      ` ${fitSegments(this.#segments(this.#standing()), Math.max(0, width - 2))}`.slice(0, width === 0 ? 0 : undefined),
    ]
  }

  #segments(standing: Standing): Segment[] {
    const { quiet, strong, warn, bad } = this.#theme
    const { agents, next, tokens: used, waiting } = standing
    // An agent without limits is shown in the colour of danger.
    const leash = standing.leash === 'all' ? (words: string) => bad(strong(words)) : strong
    return [
      { forms: [quiet(standing.mode), ''], priority: 3 },
      { forms: [leash(`leash ${standing.leash}`), leash(standing.leash)], priority: 10 },
      ...(waiting
        ? [
            {
              forms: [
                warn(`waits for ${oneLine(waiting.agent, 40)} until ${this.#time(waiting.until)}, Esc cancels`),
                warn(`waits for ${oneLine(waiting.agent, 40)} until ${this.#time(waiting.until)}`),
                warn(`waits until ${this.#time(waiting.until)}`),
              ] as [string, string, string],
              priority: 9,
            },
          ]
        : []),
      ...agents.map((agent, at) => this.#agent(agent, agent.name === next, at)),
      ...(next === undefined
        ? []
        : [
            {
              forms: [
                `${standing.stays ? 'always' : 'next'} ${this.#name(next)}`,
                `${standing.stays ? '⇒' : '→'} ${this.#name(next)}`,
                '',
              ] as [string, string, string],
              priority: 6,
            },
          ]),
      ...this.#thinking(standing),
      { forms: [quiet(tokens(used.used, used.source)), ''], priority: 2 },
      ...(used.cost === undefined
        ? []
        : [{ forms: [quiet(cost(used.cost, used.source)), ''] as [string, string], priority: 1 }]),
    ]
  }

  /** The framework is dropped before any other segment is shortened. */
  #thinking({ thinking = 'off' }: Standing): Segment[] {
    return thinking === 'off' ? [] : [{ forms: [this.#theme.quiet(`think ${thinking}`), ''], priority: -100 }]
  }

  /** The agent that is next is kept longest, then the others in their order. */
  #agent(agent: AgentStanding, isNext: boolean, at: number): Segment {
    const { quiet, good, warn, bad } = this.#theme
    const paint = { ready: good, busy: warn, 'cooling down': warn, parked: warn, out: bad }[agent.state]
    const short = `${this.#name(agent.name)} ${paint(marks[agent.state])}`
    const until = agent.until === undefined ? '' : ` until ${this.#time(agent.until)}`
    const health = agent.state === 'ready' ? '' : ` ${stateNames[agent.state]}${until}`
    // An agent's context matters once it is getting full.
    const share = agent.left === undefined || agent.left > 0.5 ? undefined : `${Math.round(agent.left * 100)}%`
    const left =
      share === undefined
        ? []
        : [short + quiet(`${health} ${share} context free`), short + quiet(`${health} ${share} free`)]
    const forms = [...left, short + quiet(health), short]
    return { forms: (isNext ? forms : [...forms, '']) as [string, ...string[]], priority: isNext ? 8 : 5 - at / 100 }
  }

  #name(name: string): string {
    return this.#theme.speaker(name)(oneLine(name, 40))
  }

  #time(at: number): string {
    return clockTime(at, this.#clock.now())
  }
}
