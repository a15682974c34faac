import type { Event } from '../../core/talk/entry.ts'
import type { Agent, Turn } from '../../core/work/agent.ts'
import type { SystemSpec } from '../../core/work/system-spec.ts'
import type { Choice } from './select/chosen.ts'
import { drain } from '../../base/relay.ts'
import { consult } from '../../core/work/verbs.ts'
import { chosen } from './select/chosen.ts'

export type Routing = {
  spec(): Promise<SystemSpec>
  /** Whom an ambiguous request is put to: the cheapest one that is well; nobody where there is none. */
  teller(): Promise<Agent | undefined>
}

/** How one turn is to be thought about: by its words, else by asking, which may last longer than it is waited for. */
export class Route {
  #routing: Routing
  #turn: Turn
  #spent: Event[] = []
  #ended: Promise<unknown> = Promise.resolve()
  /** How many were asked for it. */
  calls = 0

  constructor(routing: Routing, turn: Turn) {
    this.#routing = routing
    this.#turn = turn
  }

  choose(): Promise<Choice> {
    const { clock, signal, prompt, history } = this.#turn
    const ask = (words: string, until: AbortSignal) => {
      const answer = this.#ask(words, until)
      this.#ended = answer.catch(() => {})
      return answer
    }
    return chosen(prompt, () => this.#routing.spec(), { ask, clock, signal }, history.length > 0)
  }

  /** What was heard since it was asked last: what it cost is kept with the turn. */
  heard(): Event[] {
    return this.#spent.splice(0)
  }

  /** Once nobody is at work for it any more. */
  ended(): Promise<unknown> {
    return this.#ended
  }

  async #ask(words: string, signal: AbortSignal): Promise<string> {
    const teller = await this.#routing.teller()
    if (!teller) throw new Error('nobody is there to ask')
    this.calls++
    const { files: _, sent: __, attended: ___, ...own } = this.#turn
    const asked: Turn = { ...own, prompt: words, history: [], attempts: [], steered: [], signal }
    const outcome = await drain(consult(teller, 'selector', asked), (event) => this.#spent.push(event))
    if (!outcome.ok) throw new Error(outcome.failure.message)
    return outcome.text
  }
}
