import type { Desk } from '../desk.ts'
import type { Popup } from './popup.ts'
import type { Sheet } from './sheet.ts'
import { matchesKey } from '@earendil-works/pi-tui'
import { callAt } from './call.ts'

/** Between the sheet and the popup: it follows the words before the cursor, and puts an offer in their place. */
export class Completion {
  #sheet: Sheet
  #popup: Popup
  #desk: Desk

  constructor(sheet: Sheet, popup: Popup, desk: Desk) {
    this.#sheet = sheet
    this.#popup = popup
    this.#desk = desk
  }

  /** `wanted` when the person asks for it by Tab. */
  follow(wanted = false): void {
    const { line, col } = this.#sheet.getCursor()
    this.#popup.follow(callAt(this.#sheet.getLines()[line]!.slice(0, col), line === 0), wanted)
  }

  /** A key while the popup is open: whether it took it, or leaves it as the Enter that sends. */
  take(key: string): 'taken' | 'send' | undefined {
    if (matchesKey(key, 'enter')) return this.#enter()
    if (matchesKey(key, 'escape')) this.#popup.dismiss()
    else if (matchesKey(key, 'up')) this.#popup.move(-1)
    else if (matchesKey(key, 'down')) this.#popup.move(1)
    else if (matchesKey(key, 'tab')) this.accept()
    else return undefined
    return 'taken'
  }

  /** Enter takes what is offered where that says more than what was typed; a whole word is sent. */
  #enter(): 'taken' | 'send' {
    const { call, offer } = this.#popup
    const named = call?.type === 'command' && this.#desk.commands.some(({ name }) => name === call.typed)
    const bare = call?.type === 'words' && call.typed === ''
    if (!offer || named || bare || offer.typed === call?.typed) return 'send'
    this.accept()
    return call?.type === 'command' && !offer.waits ? 'send' : 'taken'
  }

  accept(): void {
    const { call, offer } = this.#popup
    if (!call || !offer) return
    this.#sheet.swap(call.from, offer.text)
    this.#popup.close()
    // What is completed so far may lead on: a folder to its files, a command to its words.
    if (offer.waits || offer.text.endsWith('/')) this.follow()
  }
}
