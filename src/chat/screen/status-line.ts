import type { Component } from '@earendil-works/pi-tui'
import type { Clock } from '../../base/time/clock.ts'
import type { AgentStanding, Standing } from '../desk/chat-desk.ts'
import type { Paint, Theme } from '../style/theme.ts'
import type { Segment } from './line-segments.ts'
import { localTimeFrom } from '../../base/time/local-time.ts'
import { cost, shortCount, tokens } from '../style/numbers.ts'
import { oneLine } from '../style/safe-text.ts'
import { fitSegments } from './line-segments.ts'
import { stateNames } from '../desk/chat-desk.ts'

const marks = { ready: '●', busy: '◐', 'cooling down': '◌', parked: '○', out: '✗' } as const

/** The standing of the desk in exactly one line. */
export class StatusLine implements Component {
  #theme: Theme
  #clock: Clock
  #standing: () => Standing

  #mode: () => string | undefined

  /** `mode`: the mode of the input, if it has modes. */
  constructor(theme: Theme, clock: Clock, standing: () => Standing, mode: () => string | undefined = () => undefined) {
    this.#theme = theme
    this.#clock = clock
    this.#standing = standing
    this.#mode = mode
  }

  invalidate(): void {}

  render(width: number): string[] {
    return [
      ` ${fitSegments(this.#segments(this.#standing()), Math.max(0, width - 2))}`.slice(0, width === 0 ? 0 : undefined),
    ]
  }

  #segments(standing: Standing): Segment[] {
    const { quiet, strong, warn } = this.#theme
    const { agents, next, tokens: used, waiting } = standing
    const mode = this.#mode()
    return [
      ...(mode === undefined ? [] : [{ forms: [strong(mode)] as [string], priority: 12 }]),
      { forms: [quiet(standing.mode), ''], priority: 3 },
      { forms: this.#leash(standing), priority: 10 },
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
      ...(standing.progress === undefined ? [] : [{ forms: progressForms(standing.progress, strong), priority: 9 }]),
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
      ...this.#budget(standing),
      ...(standing.budget ? [] : this.#spent(used)),
    ]
  }

  /** The limits of the agent of the next turn; an agent without limits is shown in the colour of danger. */
  #leash({ leash, ownFlags }: Standing): [string, ...string[]] {
    const { strong, bad } = this.#theme
    if (ownFlags) return [strong('own flags'), strong('flags')]
    const paint = leash === 'all' ? (words: string) => bad(strong(words)) : strong
    return [paint(`leash ${leash}`), paint(leash)]
  }

  /** The framework is dropped before any other segment is shortened. */
  #thinking({ thinking = 'off' }: Standing): Segment[] {
    return thinking === 'off' ? [] : [{ forms: [this.#theme.quiet(`think ${thinking}`), ''], priority: -100 }]
  }

  /** The tokens of the session. They are counted again only when the turn is over, so during a turn the budget says more. */
  #spent({ used, cost: price, source }: Standing['tokens']): Segment[] {
    const { quiet } = this.#theme
    const costs: Segment[] = price === undefined ? [] : [{ forms: [quiet(cost(price, source)), ''], priority: 1 }]
    return [{ forms: [quiet(tokens(used, source)), ''], priority: 2 }, ...costs]
  }

  /** The used part of the budget of a coordinator and its workers; on a narrow screen only the part that is nearest to its limit. */
  #budget({ budget }: Standing): Segment[] {
    if (!budget) return []
    const parts = budgetParts(budget)
    const nearest = parts.toSorted((a, b) => b.share - a.share)[0]
    if (!nearest) return []
    const paint = nearest.share >= 0.8 ? this.#theme.warn : this.#theme.quiet
    const words = parts.map(({ text }) => text)
    const few = parts.filter((part) => part.matters || part === nearest).map(({ text }) => text)
    return [{ forms: [paint(words.join(', ')), paint(few.join(', ')), paint(nearest.text)], priority: 11 }]
  }

  /** The agent of the next turn is dropped last; the others in their order. */
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
    return localTimeFrom(this.#clock.now(), at)
  }
}

/** A goal or loop: whole, as its name with the numbers, or the numbers alone: `loop: turn 3 of 10`, `loop 3 of 10`, `3 of 10`. */
function progressForms(words: string, paint: Paint): [string, string, string] {
  const [, name = '', numbers = ''] = /^(\w+):.*?(\d+ of \d+)/.exec(words) ?? []
  if (numbers === '') return [paint(oneLine(words, 60)), paint(oneLine(words, 40)), paint(oneLine(words, 20))]
  return [paint(oneLine(words, 60)), paint(`${name} ${numbers}`), paint(numbers)]
}

/** A part of a budget as text; `share` is how much of it is used, from 0 to 1. */
type BudgetPart = { text: string; share: number; matters: boolean }

/** The parts of a budget that have a limit: `4/20 workers`, `1.2M/10.0M tokens`, `12/120 min`. */
function budgetParts({ used, allowed }: NonNullable<Standing['budget']>): BudgetPart[] {
  const minutes = (ms: number) => String(Math.floor(ms / 60_000))
  const dollars = (amount: number) => `$${amount.toFixed(2)}`
  const rows = [
    { name: 'workers' as const, show: String, unit: ' workers', matters: true },
    { name: 'steps' as const, show: String, unit: ' steps', matters: false },
    { name: 'tokens' as const, show: shortCount, unit: ' tokens', matters: true },
    { name: 'cost' as const, show: dollars, unit: '', matters: true },
    { name: 'ms' as const, show: minutes, unit: ' min', matters: false },
  ]
  return rows.flatMap(({ name, show, unit, matters }) => {
    const [is, most] = [used[name] ?? 0, allowed[name]]
    if (most === undefined || most <= 0) return []
    return [{ text: `${show(is)}/${show(most)}${unit}`, share: is / most, matters }]
  })
}
