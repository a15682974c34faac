import type { PastFact, PastUsage } from '../../core/profile/past-session.ts'
import type { Entry, Fact } from '../../core/talk/entry.ts'
import type { Price } from '../../models/model-windows.ts'
import { namedId } from '../../base/id.ts'
import { defined } from '../../base/defined.ts'
import { failed } from '../../core/talk/outcome.ts'
import { costOf } from '../../models/http/model-answer.ts'
import { knownOf } from '../../models/model-windows.ts'

/**
 * An imported session is identified by the CLI and the CLI's own key: imported again, it has the same id. `thread`: the key of the thread
 * that continues it.
 */
type PastName = { cli: string; key: string; started: number; thread?: string }

export const importedId = ({ cli, key, started }: PastName): string => namedId(started, `${cli} ${key}`)

/** The cost of a request: as the CLI recorded it, otherwise by the price list. */
export function pastCost(used: PastUsage, provider: string | undefined): number | undefined {
  const price: Price | undefined =
    provider === undefined || used.model === undefined ? undefined : knownOf(provider, used.model).price
  return costOf(defined({ ...used, cached: used.cached ?? 0 }), price)
}

type Turn = { id: string; replied: boolean; calls: Set<string>; stop?: Extract<PastFact, { type: 'stop' }> }

/** Makes the entries of a conversation from a CLI's own record. Every turn has a prompt and an end. */
export class PastTurns {
  #name: PastName
  #provider: string | undefined
  #count = 0
  #at: number
  #turn: Turn | undefined
  #usage: PastUsage | undefined
  #priced = true

  constructor(name: PastName, provider: string | undefined) {
    this.#name = name
    this.#provider = provider
    this.#at = name.started
  }

  add(fact: PastFact): Entry[] {
    // A record without a time, or with an earlier one, gets the time of the record before it.
    this.#at = Math.max(this.#at, fact.at ?? 0)
    switch (fact.type) {
      case 'session':
        return []
      case 'prompt':
        return [...this.end(), ...this.#begin(fact.text)]
      case 'usage':
        this.#spend(fact)
        return []
      case 'stop': {
        const begun = this.#begun()
        this.#turn!.stop = fact
        return begun
      }
      case 'reply': {
        const begun = this.#begun()
        this.#turn!.replied = true
        // An answer after a failure comes from another attempt.
        delete this.#turn!.stop
        return [...begun, this.#entry({ type: 'reply', text: fact.text }, this.#name.cli)]
      }
      case 'call': {
        const begun = this.#begun()
        this.#turn!.calls.add(fact.call)
        const { call, tool, input } = fact
        return [...begun, this.#entry({ type: 'call', call, tool, input }, this.#name.cli)]
      }
      case 'result': {
        if (!this.#turn?.calls.delete(fact.call)) return []
        const { call, ok, text } = fact
        return [this.#entry({ type: 'result', call, ok, text }, this.#name.cli)]
      }
    }
  }

  /** Closes the open turn. */
  end(): Entry[] {
    const turn = this.#turn
    if (!turn) return []
    const { cli, key, thread: own = key } = this.#name
    const open = [...turn.calls].map((call) =>
      this.#entry({ type: 'result', call, ok: false, text: 'No result was recorded.' }, 'termaite'),
    )
    const thread = this.#entry({ type: 'thread', key: own }, cli)
    const used = this.#usage && this.#entry(usageFact(this.#usage, this.#priced), cli)
    const end = this.#entry({ type: 'end', outcome: outcomeOf(turn) }, cli)
    this.#turn = undefined
    this.#usage = undefined
    this.#priced = true
    return [...open, thread, ...(used ? [used] : []), end]
  }

  #begun(): Entry[] {
    return this.#turn ? [] : this.#begin('[The beginning of this turn was not recorded.]')
  }

  #begin(text: string): Entry[] {
    const id = namedId(this.#at, `${this.#name.cli} ${this.#name.key} turn ${this.#count}`)
    this.#turn = { id, replied: false, calls: new Set() }
    return [this.#entry({ type: 'prompt', text }, 'user')]
  }

  #spend(used: PastUsage): void {
    const cost = pastCost(used, this.#provider)
    if (cost === undefined) this.#priced = false
    const was = this.#usage
    this.#usage = {
      input: (was?.input ?? 0) + used.input,
      output: (was?.output ?? 0) + used.output,
      cached: (was?.cached ?? 0) + (used.cached ?? 0),
      written: (was?.written ?? 0) + (used.written ?? 0),
      cost: (was?.cost ?? 0) + (cost ?? 0),
    }
  }

  #entry(fact: Fact, by: string): Entry {
    const { cli, key } = this.#name
    const id = namedId(this.#at, `${cli} ${key} ${this.#count++}`)
    return { ...fact, id, at: this.#at, by, session: importedId(this.#name), turn: this.#turn!.id }
  }
}

function usageFact({ input, output, cached, written, cost }: PastUsage, priced: boolean): Fact {
  return defined({
    type: 'usage' as const,
    input,
    output,
    cached: cached || undefined,
    written: written || undefined,
    cost: priced ? cost : undefined,
    source: 'parsed' as const,
  })
}

function outcomeOf({ replied, stop }: Turn): Extract<Fact, { type: 'end' }>['outcome'] {
  if (stop?.by === 'failure') return failed('crash', stop.message)
  if (stop || !replied)
    return { ok: false, failure: { kind: 'unfinished', message: 'stopped by the person', stoppedBy: 'person' } }
  return { ok: true, text: '' }
}
