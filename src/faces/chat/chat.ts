import type { Terminal } from '@earendil-works/pi-tui'
import type { Clock } from '../../base/clock.ts'
import type { Command, CommandScreen } from '../../core/talk/command.ts'
import type { Desk, Happening } from './desk.ts'
import type { Frame } from './screen/frame.ts'
import type { State } from './state.ts'
import { ProcessTerminal } from '@earendil-works/pi-tui'
import { wordsOf } from '../../base/words.ts'
import { leashes } from '../../core/work/agent.ts'
import { InputBox } from './input/input.ts'
import { copyText } from './screen/clipboard.ts'
import { editedText } from './screen/editor.ts'
import { Finder } from './screen/finder.ts'
import { frameOf } from './screen/frame.ts'
import { Guarded } from './screen/guarded.ts'
import { claimKeys, pressed } from './screen/keys.ts'
import { restoredAtExit } from './screen/restore.ts'
import { Slot } from './screen/slot.ts'
import { StatusLine } from './screen/status-line.ts'
import { welcome } from './screen/welcome.ts'
import { WorkingLine, stepMs } from './screen/working-line.ts'
import { blank, cleared, next, withAtMost, withEarlier } from './state.ts'
import { askedTheme, firstTheme, followedTheme } from './theme/background.ts'
import { ThemeSwitch } from './theme/switch.ts'
import { Late } from './transcript/late.ts'
import { Rendered } from './transcript/render.ts'
import { Transcript } from './transcript/transcript.ts'

export type ChatParts = {
  clock: Clock
  env: Readonly<Record<string, string | undefined>>
  signal: AbortSignal
  /** Whether it takes the whole screen, or prints where the terminal scrolls. */
  altScreen: boolean
  /** The terminal of this process, unless it is another one. */
  terminal?: Terminal
}

/** How the chat was left; when the screen broke, why. */
export type ChatEnd = { why: 'exit' | 'aborted' } | { why: 'broken'; message: string }

/** The chat on a screen, until the person leaves it; by then the terminal is as it was. */
export async function openChat(desk: Desk, parts: ChatParts): Promise<ChatEnd> {
  const chat = new Chat(desk, parts, parts.terminal ?? new ProcessTerminal())
  const undo = parts.terminal ? () => {} : restoredAtExit(() => chat.restore())
  try {
    return await chat.opened()
  } finally {
    undo()
  }
}

/** Two presses of Ctrl+C within this long leave. */
const twiceMs = 2000
/** More blocks than that are not held; a little more is let go at once, so that it is not done at each turn. */
const [mostBlocks, keptBlocks] = [10_000, 9000]
/** In the normal buffer all that is held is painted again at each change. */
const keptInBuffer = 400
const earlierEntries = 300

class Chat {
  #desk: Desk
  #parts: ChatParts
  #terminal: Terminal
  #state: State = blank
  #shown = false
  #theme: ThemeSwitch
  #transcript: Transcript
  #frame: Frame
  #input: InputBox
  #slot: Slot
  #finder: Finder
  #on = false
  #loading = false
  #ticking = false
  #interrupted = -Infinity
  #over = new AbortController()
  #end: ChatEnd | undefined

  constructor(desk: Desk, parts: ChatParts, terminal: Terminal) {
    this.#desk = desk
    this.#parts = parts
    this.#terminal = terminal
    const { clock, env, altScreen } = parts
    const theme = (this.#theme = new ThemeSwitch(firstTheme(env)))
    const broken = (error: unknown) => this.#leave({ why: 'broken', message: wordsOf(error) })
    const guarded = <C extends ConstructorParameters<typeof Guarded>[0]>(inner: C) => new Guarded(inner, broken)
    const standing = () => this.#state.standing ?? desk.standing()
    this.#transcript = new Transcript({
      look: { theme, late: new Late((what) => this.#refine(what), setImmediate), links: canLink(env) },
      empty: (width, height) => (this.#shown ? welcome(standing(), theme, width, height) : []),
      above: theme.quiet('↑ earlier messages'),
      repaint: () => this.#repaint(),
      later: setImmediate,
      nearTop: () => void this.#loadEarlier(),
    })
    this.#frame = frameOf({
      terminal,
      altScreen,
      theme,
      title: () => ['termaite', standing().project, ...(standing().session ? [standing().session!] : [])],
      transcript: guarded(this.#transcript),
      working: guarded(new WorkingLine(theme, clock, () => this.#state.running)),
      status: guarded(new StatusLine(theme, clock, standing)),
      unseen: () => this.#transcript.unseen,
      copy: (text) => this.#copy(text),
    })
    const { tui, slot, scroll } = this.#frame
    if (scroll) this.#transcript.scrolledBy(scroll)
    this.#input = new InputBox({
      tui,
      theme,
      desk,
      clock,
      onSubmit: (text) => desk.submit(text),
      openPalette: (query) => this.#finder.open(query),
      edit: (text) => this.#suspend(() => editedText(text, env)),
    })
    const answer = (ask: string, picks?: string[]) => desk.answer(ask, picks)
    this.#slot = new Slot({ tui, place: slot, input: this.#input, theme, clock, answer, broken })
    this.#finder = new Finder({
      tui,
      theme,
      commands: () => desk.commands,
      pick: (command) => this.#picked(command),
      closed: () => this.#slot.focus(),
      broken,
    })
    tui.addInputListener((data) => (this.#key(data) ? { consume: true } : undefined))
  }

  async opened(): Promise<ChatEnd> {
    const { signal } = this.#parts
    if (signal.aborted) return { why: 'aborted' }
    const abort = () => this.#leave({ why: 'aborted' })
    signal.addEventListener('abort', abort, { once: true })
    claimKeys()
    this.#start()
    this.#frame.tui.renderNow()
    this.#desk.seatedAt(this.#screen())
    void this.#askBackground()
    try {
      for await (const happening of this.#desk.happenings(this.#over.signal)) this.#happened(happening)
      if (!this.#end) await new Promise((resolve) => this.#over.signal.addEventListener('abort', resolve))
    } catch (error) {
      this.#leave({ why: 'broken', message: wordsOf(error) })
    } finally {
      signal.removeEventListener('abort', abort)
      this.restore()
    }
    if (this.#parts.altScreen && this.#end?.why === 'exit') this.#terminal.write(this.#lastAnswer())
    return this.#end ?? { why: 'exit' }
  }

  /** Gives the terminal back; a second time it does nothing. */
  restore(): void {
    if (!this.#on) return
    this.#on = false
    this.#slot.close()
    try {
      this.#frame.stop({ preserveScreen: this.#parts.altScreen })
    } catch {
      // The terminal went away: nothing is left to give back.
    }
  }

  #start(): void {
    this.#on = true
    this.#frame.tui.start()
  }

  /** The first cause wins. */
  #leave(end: ChatEnd): void {
    this.#end ??= end
    this.restore()
    this.#over.abort()
  }

  #happened(happening: Happening): void {
    if (happening.type === 'opened') this.#shown = true
    this.#set(next(this.#state, happening, this.#parts.clock.now()))
  }

  #set(state: State): void {
    this.#state = this.#bounded(state)
    const { done, live, more, asks, queue } = this.#state
    this.#transcript.show(done, live, more)
    this.#input.setQueue(queue)
    this.#slot.show(asks)
    void this.#tick()
    this.#repaint()
  }

  /** Nothing is let go while somebody reads further up. */
  #bounded(state: State): State {
    const { scroll } = this.#frame
    if (!scroll) return withAtMost(state, keptInBuffer)
    const over = state.done.length > mostBlocks && scroll.isFollowingEnd
    return over ? withAtMost(state, keptBlocks) : state
  }

  #repaint(): void {
    if (this.#on) this.#frame.tui.requestRender()
  }

  #refine(what: 'colours' | 'diffs'): void {
    this.#transcript.refine(what)
    this.#repaint()
  }

  /** The spinner turns while something runs, and at no other time. */
  async #tick(): Promise<void> {
    if (this.#ticking) return
    this.#ticking = true
    while (this.#state.running.length > 0 && !this.#end) {
      await this.#parts.clock.sleep(stepMs, this.#over.signal)
      this.#repaint()
    }
    this.#ticking = false
  }

  async #askBackground(): Promise<void> {
    const { tui } = this.#frame
    const turn = (to: Parameters<ThemeSwitch['turn']>[0]) => {
      if (!this.#theme.turn(to)) return
      tui.invalidate()
      this.#repaint()
    }
    followedTheme(tui, this.#parts.env, turn)
    const asked = await askedTheme(tui, this.#parts.env)
    if (asked) turn(asked)
  }

  async #loadEarlier(): Promise<void> {
    const { more, oldest } = this.#state
    if (this.#loading || !more || oldest === undefined || !this.#frame.scroll) return
    this.#loading = true
    const earlier = await this.#desk.earlier(oldest, earlierEntries).catch(() => ({ entries: [], more: false }))
    this.#loading = false
    // Another conversation may have been opened meanwhile.
    if (this.#state.oldest !== oldest || this.#end) return
    this.#set(withEarlier(this.#state, earlier.entries, earlier.more && earlier.entries.length > 0))
  }

  #key(data: string): boolean {
    if (this.#frame.tui.hasOverlay()) return false
    const card = this.#slot.card
    if (card) {
      if (pressed(data, { ...this.#wishes, ...forCard })) return true
      if (card.wants(data)) return false
      this.#input.handleInput(data)
      return true
    }
    return pressed(data, this.#wishes)
  }

  readonly #wishes = {
    interrupt: () => this.#interrupt(),
    escape: () => !this.#input.popupOpen() && (this.#desk.cancel() || true),
    leave: () => {
      if (this.#input.text() !== '') return false
      this.#leave({ why: 'exit' })
      return true
    },
    nextLeash: () => {
      const { leash } = this.#state.standing ?? this.#desk.standing()
      this.#desk.setLeash(leashes[(leashes.indexOf(leash) + 1) % leashes.length]!)
      return true
    },
    openAll: () => {
      this.#transcript.toggleAll()
      this.#repaint()
      return true
    },
    palette: () => {
      this.#finder.open('')
      return true
    },
  }

  #interrupt(): boolean {
    const now = this.#parts.clock.now()
    if (now - this.#interrupted < twiceMs) this.#leave({ why: 'exit' })
    else {
      this.#interrupted = now
      if (!this.#input.clear()) this.#desk.cancel()
      this.#frame.flash('Ctrl+C again leaves')
      this.#repaint()
    }
    return true
  }

  #picked(command: Command): void {
    if (command.words !== undefined) return this.#input.fill(`/${command.name} `)
    this.#input.clear()
    this.#desk.submit(`/${command.name}`)
  }

  async #suspend<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#on) return work()
    this.#on = false
    this.#frame.stop({ preserveScreen: true })
    try {
      return await work()
    } finally {
      if (!this.#end) {
        this.#start()
        this.#frame.tui.requestRender(true)
      }
    }
  }

  #copy(text: string): Promise<string> {
    return copyText(text, this.#parts.env, (data) => this.#terminal.write(data))
  }

  #screen(): CommandScreen {
    return {
      suspend: (work) => this.#suspend(work),
      copy: (text) => this.#copy(text),
      clear: () => this.#set(cleared(this.#state)),
      fill: (text) => {
        this.#input.fill(text)
        this.#repaint()
      },
      palette: (query) => this.#finder.open(query ?? ''),
      exit: () => this.#leave({ why: 'exit' }),
    }
  }

  /** What stays in the scrollback. */
  #lastAnswer(): string {
    const { done, live } = this.#state
    const reply = [...done, ...live].findLast((block) => block.type === 'reply' && !block.live)
    if (!reply) return ''
    const look = {
      theme: this.#theme,
      late: new Late(
        () => {},
        () => {},
      ),
      links: false,
    }
    const lines = new Rendered().lines(reply, undefined, Math.max(20, this.#terminal.columns), look, true)
    return `${lines.join('\r\n')}\r\n`
  }
}

/** While a card is open its keys are its own. */
const forCard = {
  escape: () => false,
  leave: () => false,
  nextLeash: () => false,
  openAll: () => false,
  palette: () => false,
}

/** Those that print the sequence of a link instead of following it. */
function canLink({ TERM, STY }: ChatParts['env']): boolean {
  return TERM !== undefined && TERM !== 'dumb' && TERM !== 'linux' && STY === undefined
}
