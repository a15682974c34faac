import type { Clock } from '../../base/time/clock.ts'
import type { ChatDesk } from '../desk/chat-desk.ts'
import type { Theme } from '../style/theme.ts'
import type { Choice } from '../style/widgets.ts'
import type { PromptEditor } from './prompt-editor.ts'
import { fuzzyMatch } from '@earendil-works/pi-tui'
import { commandUsage, findCommands } from '../desk/command-search.ts'
import { actionOf } from '../desk/keys.ts'
import { ChoiceList } from '../style/widgets.ts'
import { cleanText } from '../../base/text/ansi.ts'

/** The text before the cursor that can be completed; a completion replaces everything from the column `from` on. */
type CompletionTarget =
  | { type: 'command'; typed: string; from: number }
  | { type: 'words'; command: string; typed: string; from: number }
  | { type: 'file'; typed: string; from: number }
  | { type: 'shell'; typed: string; from: number }

const command = /^\s*(\/[^\s/]*)$/
const commandWords = /^\s*\/([^\s/]+)\s+(.*)$/
/** An @ at the beginning of a word: an e-mail address has its @ in the middle of one. */
const file = /(?:^|[\s([{<,;'"`])(@(?:"([^"]*)|([^\s"]*)))$/

/** `before` is the line up to the cursor; only the first line of a prompt can begin a command. */
export function completionTarget(before: string, first: boolean): CompletionTarget | undefined {
  const at = file.exec(before)
  if (at) return { type: 'file', typed: at[2] ?? at[3] ?? '', from: before.length - at[1]!.length }
  if (!first) return undefined
  const shell = /^\s*(!.*)$/.exec(before)
  if (shell) return { type: 'shell', typed: shell[1]!, from: before.length - shell[1]!.length }
  const slash = command.exec(before)
  if (slash) return { type: 'command', typed: slash[1]!.slice(1), from: before.length - slash[1]!.length }
  const follows = commandWords.exec(before)
  if (!follows) return undefined
  return { type: 'words', command: follows[1]!, typed: follows[2]!, from: before.length - follows[2]!.length }
}

/** The name of the command that a text begins with. A path like /etc/hosts is not a command. */
export function commandName(text: string): string | undefined {
  return /^\/([^\s/]*)(?:\s|$)/.exec(text)?.[1]
}

/** A path as it is written after an @; the mention of a folder (with a final slash) stays open for the files below it. */
export function mentionOf(path: string): string {
  const open = path.endsWith('/')
  if (!/[\s"]/.test(path)) return open ? `@${path}` : `@${path} `
  return open ? `@"${path}` : `@"${path}" `
}

/** The beginning of a mention, to be continued by typing. */
const openMention = (open: string) => (/[\s"]/.test(open) ? `@"${open}` : `@${open}`)

/** `text` replaces the typed text, `typed` is the same as a person would type it; `continues` if more words follow. */
type Suggestion = Choice & { text: string; typed: string; continues?: boolean }

/** Files are searched only after a pause of this length between keys. */
const pauseMs = 15
const mostFiles = 50

/** The suggestions for the words before the cursor. Results that come too late are dropped. */
export class CompletionPopup {
  #desk: ChatDesk
  #clock: Clock
  #changed: () => void
  #choices: ChoiceList<Suggestion>
  #target: CompletionTarget | undefined
  #dismissed: string | undefined
  #searching = new AbortController()

  constructor(parts: { desk: ChatDesk; clock: Clock; theme: Theme; changed(): void }) {
    this.#desk = parts.desk
    this.#clock = parts.clock
    this.#changed = parts.changed
    this.#choices = new ChoiceList(parts.theme)
  }

  get open(): boolean {
    return this.#choices.items.length > 0
  }

  get target(): CompletionTarget | undefined {
    return this.#target
  }

  get chosen(): Suggestion | undefined {
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

  /** The position of the chosen suggestion, if not all suggestions fit. */
  place(): string {
    return this.#choices.place()
  }

  /** The person closes the popup; it stays closed until the target changes. */
  dismiss(): void {
    this.#dismissed = this.#target && keyOf(this.#target)
    this.close()
  }

  close(): void {
    this.#searching.abort()
    this.#target = undefined
    this.#choices.set([])
  }

  /** Shows the suggestions for a target; `wanted` when the person asks for them with Tab. */
  follow(target: CompletionTarget | undefined, wanted = false): void {
    const key = target && keyOf(target)
    if (key !== this.#dismissed || wanted) this.#dismissed = undefined
    if (!target || this.#dismissed !== undefined) return this.close()
    const same = this.#target !== undefined && keyOf(this.#target) === key
    this.#searching.abort()
    this.#target = target
    // The suggestions on the screen are filtered at once, so that all of them match the typed text.
    this.#choices.set(same ? this.#choices.items.filter(({ label }) => fits(label, target.typed)) : [], true)
    if (target.type === 'command') return this.#choices.set(this.#commands(target.typed))
    const { signal } = (this.#searching = new AbortController())
    if (target.type === 'file') return this.#mentions(target.typed, signal, same)
    // Typing continues while the search runs. A search that fails suggests nothing.
    void this.#search(target).then(
      (suggestions) => {
        if (signal.aborted) return
        this.#choices.set(suggestions, same)
        this.#changed()
      },
      () => {},
    )
  }

  async #search(target: Extract<CompletionTarget, { type: 'words' | 'shell' }>): Promise<Suggestion[]> {
    return target.type === 'words' ? this.#words(target.command, target.typed) : this.#earlier(target.typed)
  }

  /** Shows files and resources of MCP servers beside each other; neither waits for the other. */
  #mentions(typed: string, signal: AbortSignal, same: boolean): void {
    const found: { paths: Suggestion[]; resources: Suggestion[] } = { paths: [], resources: [] }
    const show = (keep: boolean) => {
      if (signal.aborted) return
      const { paths, resources } = found
      // A person who typed a server's name wants its resources; any other text is more likely the name of a file.
      this.#choices.set(typed.includes(':') ? [...resources, ...paths] : [...paths, ...resources], keep)
      this.#changed()
    }
    // Typing continues while the searches run. A search that fails suggests nothing.
    void this.#files(typed, signal).then(
      (paths) => ((found.paths = paths), show(same || found.resources.length > 0)),
      () => {},
    )
    void this.#resources(typed, signal).then(
      (resources) => ((found.resources = resources), resources.length > 0 && show(same || found.paths.length > 0)),
      () => {},
    )
  }

  async #files(typed: string, signal: AbortSignal): Promise<Suggestion[]> {
    await this.#clock.sleep(pauseMs, signal)
    if (signal.aborted) return []
    const paths = await this.#desk.sources.files(typed, mostFiles, signal)
    return (
      paths
        // A path with control characters cannot be typed into a line.
        .filter((path) => path === cleanText(path) && !path.includes('\n'))
        .map((path) => ({ label: path, text: mentionOf(path), typed: path }))
    )
  }

  async #resources(typed: string, signal: AbortSignal): Promise<Suggestion[]> {
    await this.#clock.sleep(pauseMs, signal)
    if (signal.aborted) return []
    const named = await this.#desk.sources.resources(typed, signal)
    const fitting = named.flatMap((one) => {
      const { matches, score } = fuzzyMatch(typed.trim(), one.mention)
      return matches ? [{ ...one, score }] : []
    })
    return fitting
      .sort((one, other) => one.score - other.score)
      .slice(0, mostFiles)
      .map(({ mention, help, open }) => ({
        label: mention,
        ...(help === undefined ? {} : { help }),
        text: open === undefined ? mentionOf(mention) : openMention(open),
        typed: mention,
        ...(open === undefined ? {} : { continues: true }),
      }))
  }

  #commands(typed: string): Suggestion[] {
    return findCommands(this.#desk.commands, typed).map((found) => ({
      label: commandUsage(found),
      help: found.help,
      text: found.words ? `/${found.name} ` : `/${found.name}`,
      typed: found.name,
      continues: Boolean(found.words),
    }))
  }

  /** Commands that were sent with "!" before and begin with the typed text, newest first. */
  async #earlier(typed: string): Promise<Suggestion[]> {
    const sent = await this.#desk.sources.sentPrompts()
    const found = sent.filter((text) => text.startsWith(typed) && text !== typed && !text.includes('\n')).reverse()
    return [...new Set(found)].slice(0, mostFiles).map((text) => ({ label: text, text, typed: text }))
  }

  async #words(name: string, typed: string): Promise<Suggestion[]> {
    const known = this.#desk.commands.find((each) => each.name === name)
    const found = (await known?.complete?.(typed)) ?? []
    return found.filter((word) => fits(word, typed)).map((word) => ({ label: word, text: word, typed: word }))
  }
}

/** Names the place of a completion: the key stays the same while the person keeps typing there. */
function keyOf(target: CompletionTarget): string {
  return target.type === 'words' ? `${target.type} ${target.command} ${target.from}` : `${target.type} ${target.from}`
}

function fits(label: string, typed: string): boolean {
  return fuzzyMatch(typed.trim(), label).matches
}

/** Joins the editor and the popup: reads the words before the cursor, and replaces them by the chosen suggestion. */
export class Completer {
  #editor: PromptEditor
  #popup: CompletionPopup
  #desk: ChatDesk

  constructor(editor: PromptEditor, popup: CompletionPopup, desk: ChatDesk) {
    this.#editor = editor
    this.#popup = popup
    this.#desk = desk
  }

  /** `wanted` when the person asks for suggestions with Tab. */
  follow(wanted = false): void {
    const { line, col } = this.#editor.getCursor()
    this.#popup.follow(completionTarget(this.#editor.getLines()[line]!.slice(0, col), line === 0), wanted)
  }

  /** Takes a key while the popup is open; `send` means that Enter sends the prompt, undefined that the key is not used. */
  take(key: string): 'taken' | 'send' | undefined {
    const action = actionOf('popup', key)
    if (action === undefined) return undefined
    if (action === 'enter') return this.#enter()
    if (action === 'close') this.#popup.dismiss()
    else if (action === 'accept') this.accept()
    else this.#popup.move(action === 'up' ? -1 : 1)
    return 'taken'
  }

  /** Enter accepts a suggestion that is longer than the typed text; a complete word is sent. */
  #enter(): 'taken' | 'send' {
    const { target, chosen } = this.#popup
    const named = target?.type === 'command' && this.#desk.commands.some(({ name }) => name === target.typed)
    const bare = target?.type === 'words' && target.typed === ''
    // Enter runs exactly the typed text. Only Tab accepts an earlier command, which may do far more.
    if (!chosen || named || bare || target?.type === 'shell' || chosen.typed === target?.typed) return 'send'
    this.accept()
    return target?.type === 'command' && !chosen.continues ? 'send' : 'taken'
  }

  accept(): void {
    const { target, chosen } = this.#popup
    if (!target || !chosen) return
    this.#editor.replaceBeforeCursor(target.from, chosen.text)
    this.#popup.close()
    // A folder leads on to its files, and a command to its words.
    if (chosen.continues || chosen.text.endsWith('/')) this.follow()
  }
}
