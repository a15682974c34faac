import type { Event } from '../../core/talk/entry.ts'
import type { Minds } from './minds.ts'

const mostNamed = 8

/** Keeps an eye on the files while somebody is asked who cannot be held to reading and only promised it. */
export class Promises {
  #minds: Pick<Minds, 'promised' | 'rewind'>
  #mark: Promise<string | undefined> | undefined

  constructor(minds: Pick<Minds, 'promised' | 'rewind'>) {
    this.#minds = minds
  }

  /** Somebody is about to be asked; those who are asked side by side are looked after together. */
  async asked(): Promise<void> {
    const { promised = [], rewind } = this.#minds
    if (promised.length === 0 || !rewind) return
    await (this.#mark ??= rewind.mark().catch(() => undefined))
  }

  /** Somebody has answered: what changed meanwhile is said, and not said again. */
  async *answered(by: string): AsyncGenerator<Event, void> {
    const mark = this.#minds.promised?.includes(by) ? await this.#mark : undefined
    if (mark === undefined) return
    const since = await this.#minds.rewind!.since(mark).catch(() => undefined)
    if (!since || since.files.length === 0) return
    this.#mark = Promise.resolve(since.seen)
    const more = since.files.length > mostNamed ? ` and ${since.files.length - mostNamed} more` : ''
    const text = `${by} promised to read only, and while it was asked these files changed: ${since.files.slice(0, mostNamed).join(', ')}${more}; /diff shows it, /undo takes it back`
    yield { type: 'note', text, by: 'termaite' }
  }

  /** Somebody acts: from here on files change as they should. */
  over(): void {
    this.#mark = undefined
  }
}
