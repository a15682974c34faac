import type { Desk } from '../desk.ts'
import { clean } from './paste.ts'

/** What was sent before, in this process and in those before it: read when it is first wanted. */
export class Past {
  #desk: Desk
  #sent: string[] = []
  #before: Promise<string[]> | undefined

  constructor(desk: Desk) {
    this.#desk = desk
  }

  add(text: string): void {
    if (this.#sent.at(-1) !== text) this.#sent.push(text)
  }

  /** Newest last, no text twice in a row; what cannot be read is not there. */
  async texts(): Promise<string[]> {
    const before = await (this.#before ??= this.#desk.past().catch(() => []))
    // What was sent here may have been kept before it was read: its place is at the end.
    const own = new Set(this.#sent)
    const all = [...before.map(tidy).filter((text) => !own.has(text)), ...this.#sent]
    return all.filter((text, at) => text !== '' && text !== all[at - 1])
  }
}

const tidy = (text: string) => clean(text).replaceAll('\t', '    ').trim()
