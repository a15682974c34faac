import type { ChatDesk } from '../chat-desk.ts'
import type { PromptEditor } from './prompt-editor.ts'
import type { Clock } from '../../../base/clock.ts'
import type { Choice } from '../widgets.ts'
import type { Theme } from '../theme.ts'
import { matchesKey, fuzzyMatch } from '@earendil-works/pi-tui'
import { ChoiceList } from '../widgets.ts'
import { commandUsage, findCommands } from '../command-search.ts'
import { cleanText } from './paste.ts'

/** Between the sheet and the popup: it follows the words before the cursor, and puts an offer in their place. */
export class Completer {
  #sheet: PromptEditor
  #popup: CompletionPopup
  #desk: ChatDesk

  constructor(sheet: PromptEditor, popup: CompletionPopup, desk: ChatDesk) {
    this.#sheet = sheet
    this.#popup = popup
    this.#desk = desk
  }

  /** `wanted` when the person asks for it by Tab. */
  follow(wanted = false): void {
    const { line, col } = this.#sheet.getCursor()
    this.#popup.follow(completionTarget(this.#sheet.getLines()[line]!.slice(0, col), line === 0), wanted)
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

/** What the words before the cursor call for; `from` is the column from which a completion takes their place. */
export type CompletionTarget =
  | { type: 'command'; typed: string; from: number }
  | { type: 'words'; command: string; typed: string; from: number }
  | { type: 'file'; typed: string; from: number }

const command = /^\s*(\/[^\s/]*)$/
const words = /^\s*\/([^\s/]+)\s+(.*)$/
/** At the beginning of a word: an e-mail address has its @ in the middle of one. */
const file = /(?:^|[\s([{<,;'"`])(@(?:"([^"]*)|([^\s"]*)))$/

/** `before` is the line up to the cursor; only the first line can begin a command. */
export function completionTarget(before: string, first: boolean): CompletionTarget | undefined {
  const at = file.exec(before)
  if (at) return { type: 'file', typed: at[2] ?? at[3] ?? '', from: before.length - at[1]!.length }
  if (!first) return undefined
  const slash = command.exec(before)
  if (slash) return { type: 'command', typed: slash[1]!.slice(1), from: before.length - slash[1]!.length }
  const follows = words.exec(before)
  if (!follows) return undefined
  return { type: 'words', command: follows[1]!, typed: follows[2]!, from: before.length - follows[2]!.length }
}

/** The command that a text begins with; a path that begins with a slash has another one in it. */
export function commandName(text: string): string | undefined {
  return /^\/([^\s/]*)(?:\s|$)/.exec(text)?.[1]
}

/** A path as it is written after an @; one that ends in a slash is open for what is below it. */
export function mentionOf(path: string): string {
  const open = path.endsWith('/')
  if (!/[\s"]/.test(path)) return open ? `@${path}` : `@${path} `
  return open ? `@"${path}` : `@"${path}" `
}

/** `text` takes the place of what was written, `typed` is what one would have typed; one that `waits` leads on to more words. */
export type Suggestion = Choice & { text: string; typed: string; waits?: boolean }

/** Keys that come faster than this ask for files once. */
const pauseMs = 15
const mostFiles = 50

/** What may be meant by the words before the cursor. Answers that come too late are dropped. */
export class CompletionPopup {
  #desk: ChatDesk
  #clock: Clock
  #changed: () => void
  #choices: ChoiceList<Suggestion>
  #call: CompletionTarget | undefined
  #dismissed: string | undefined
  #asking = new AbortController()

  constructor(parts: { desk: ChatDesk; clock: Clock; theme: Theme; changed(): void }) {
    this.#desk = parts.desk
    this.#clock = parts.clock
    this.#changed = parts.changed
    this.#choices = new ChoiceList(parts.theme)
  }

  get open(): boolean {
    return this.#choices.items.length > 0
  }

  get call(): CompletionTarget | undefined {
    return this.#call
  }

  get offer(): Suggestion | undefined {
    return this.#choices.chosen
  }

  move(by: number): void {
    this.#choices.move(by)
  }

  point(row: number): Suggestion | undefined {
    return this.#choices.point(row)
  }

  render(width: number, most: number): string[] {
    return this.#choices.render(width, most)
  }

  /** Where the chosen one stands, when there are more than are shown. */
  place(most: number): string {
    return this.#choices.place(most)
  }

  /** Closed by the person: it stays so until something else is called for. */
  dismiss(): void {
    this.#dismissed = this.#call && placeOf(this.#call)
    this.close()
  }

  close(): void {
    this.#asking.abort()
    this.#call = undefined
    this.#choices.set([])
  }

  /** Follows what is called for; `wanted` when the person asks for it by Tab. */
  follow(call: CompletionTarget | undefined, wanted = false): void {
    const place = call && placeOf(call)
    if (place !== this.#dismissed || wanted) this.#dismissed = undefined
    if (!call || this.#dismissed !== undefined) return this.close()
    const same = this.#call !== undefined && placeOf(this.#call) === place
    this.#asking.abort()
    this.#call = call
    // What is shown already is narrowed at once, and is never wrong for what is typed now.
    this.#choices.set(same ? this.#choices.items.filter(({ label }) => fits(label, call.typed)) : [], true)
    if (call.type === 'command') return this.#choices.set(this.#commands(call.typed))
    const { signal } = (this.#asking = new AbortController())
    void this.#ask(call, signal).then(
      (offers) => {
        if (signal.aborted) return
        this.#choices.set(offers, same)
        this.#changed()
      },
      // A finder that fails offers nothing: typing goes on.
      () => {},
    )
  }

  async #ask(call: Exclude<CompletionTarget, { type: 'command' }>, signal: AbortSignal): Promise<Suggestion[]> {
    if (call.type === 'words') return this.#words(call.command, call.typed)
    await this.#clock.sleep(pauseMs, signal)
    if (signal.aborted) return []
    const paths = await this.#desk.files(call.typed, mostFiles, signal)
    return (
      paths
        // What cannot be typed in a line cannot be attached from one.
        .filter((path) => path === cleanText(path) && !path.includes('\n'))
        .map((path) => ({ label: path, text: mentionOf(path), typed: path }))
    )
  }

  #commands(typed: string): Suggestion[] {
    return findCommands(this.#desk.commands, typed).map((command) => ({
      label: commandUsage(command),
      help: command.help,
      text: command.words ? `/${command.name} ` : `/${command.name}`,
      typed: command.name,
      ...(command.words ? { waits: true } : {}),
    }))
  }

  async #words(name: string, typed: string): Promise<Suggestion[]> {
    const command = this.#desk.commands.find((known) => known.name === name)
    const found = (await command?.complete?.(typed)) ?? []
    return found.filter((word) => fits(word, typed)).map((word) => ({ label: word, text: word, typed: word }))
  }
}

function placeOf(call: CompletionTarget): string {
  return call.type === 'words' ? `${call.type} ${call.command} ${call.from}` : `${call.type} ${call.from}`
}

function fits(label: string, typed: string): boolean {
  return fuzzyMatch(typed.trim(), label).matches
}
