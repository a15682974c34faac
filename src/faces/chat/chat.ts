import type { Terminal } from '@earendil-works/pi-tui'
import type { Clock } from '../../base/clock.ts'
import type { Command, CommandScreen } from '../../core/talk/command.ts'
import type { ChatDesk, DeskEvent, Standing } from './chat-desk.ts'
import type { ScreenLayout } from './screen/screen-layout.ts'
import type { KeyActions } from './screen/screen-keys.ts'
import type { ChatState } from './chat-state.ts'
import type { RenderContext } from './transcript/render-context.ts'
import { ProcessTerminal } from '@earendil-works/pi-tui'
import { messageOf } from '../../base/error-message.ts'
import { InputBox } from './input/input-box.ts'
import { copyText, editInEditor } from './screen/external-programs.ts'
import { farewell, welcome } from './screen/welcome.ts'
import { PaletteOverlay } from './palette.ts'
import { screenLayout } from './screen/screen-layout.ts'
import { GuardedComponent, guard } from './screen/guarded-component.ts'
import { bindKeys, pressKey, cardKeys, typingKeys } from './screen/screen-keys.ts'
import { restoreAtExit, TerminalControl } from './screen/terminal-control.ts'
import { InputArea } from './screen/input-area.ts'
import { StatusLine } from './screen/status-line.ts'
import { Ticker, WorkingLine, stepMs } from './screen/working-line.ts'
import { emptyState, cleared, nextState, withoutOldest, withEarlier } from './chat-state.ts'
import { firstTheme, followBackground, ThemeSwitch } from './theme.ts'
import { LazyDetails, canLink } from './transcript/render-context.ts'
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
export async function openChat(desk: ChatDesk, parts: ChatParts): Promise<ChatEnd> {
  const chat = new Chat(desk, parts, parts.terminal ?? new ProcessTerminal())
  const undo = parts.terminal
    ? () => {}
    : restoreAtExit(
        () => chat.restore(),
        (error) => chat.broke(error),
      )
  try {
    return await chat.opened()
  } finally {
    undo()
  }
}

/** More blocks than that are not held; a little more is let go at once, so that it is not done at each turn. */
const [mostBlocks, keptBlocks] = [10_000, 9000]
/** In the normal buffer all that is held is painted again at each change. */
const keptInBuffer = 400
const earlierEntries = 300

/** What a turn at work is thought with is truer than what the next one would be. */
function thinking({ running }: ChatState): Pick<Standing, 'thinking'> {
  const phase = running.at(-1)?.phase
  return phase ? { thinking: phase.framework } : {}
}

class Chat {
  #desk: ChatDesk
  #parts: ChatParts
  #terminal: Terminal
  #state: ChatState = emptyState
  #theme: ThemeSwitch
  #context: RenderContext
  #transcript: Transcript
  #frame: ScreenLayout
  #input: InputBox
  #slot: InputArea
  #finder: PaletteOverlay
  #stage: TerminalControl
  #loading = false
  #wishes: KeyActions
  #ticker: Ticker
  #over = new AbortController()
  #end: ChatEnd | undefined

  constructor(desk: ChatDesk, parts: ChatParts, terminal: Terminal) {
    this.#desk = desk
    this.#parts = parts
    this.#terminal = terminal
    const { clock, env, altScreen } = parts
    const theme = (this.#theme = new ThemeSwitch(firstTheme(env)))
    const broken = (error: unknown) => this.broke(error)
    const later = (work: () => void) => void setImmediate(() => guard(work, broken))
    const guarded = <C extends ConstructorParameters<typeof GuardedComponent>[0]>(inner: C) =>
      new GuardedComponent(inner, broken)
    const standing = () => this.#state.standing ?? desk.standing()
    const lazy = new LazyDetails((what) => this.#refine(what), later)
    this.#context = { theme, lazy, links: canLink(env), sides: altScreen }
    this.#transcript = new Transcript({
      context: this.#context,
      welcome: (room) => welcome(standing(), theme, room),
      height: () => this.#frame.height(),
      repaint: () => this.#stage.repaint(),
      later,
      nearTop: () => void this.#loadEarlier().catch(broken),
    })
    this.#frame = screenLayout({
      terminal,
      altScreen,
      theme,
      title: () => ['termaite', standing().project, ...(standing().session ? [standing().session!] : [])],
      transcript: guarded(this.#transcript),
      working: guarded(
        new WorkingLine(
          theme,
          clock,
          () => this.#state.running,
          () => this.#state.asks.length > 0,
        ),
      ),
      status: guarded(new StatusLine(theme, clock, () => ({ ...standing(), ...thinking(this.#state) }))),
      unseen: () => this.#transcript.unseen,
      copy: (text) => this.#copy(text),
    })
    this.#stage = new TerminalControl(this.#frame, { preserveScreen: altScreen })
    const { tui, slot, scroll, room } = this.#frame
    if (scroll) this.#transcript.scrolledBy(scroll)
    this.#input = new InputBox({
      tui,
      theme,
      desk,
      clock,
      onSubmit: (text) => {
        // Whoever sends something wants to see what comes of it.
        this.#frame.toEnd()
        desk.submit(text)
      },
      openPalette: (query) => this.#finder.open(query),
      edit: (text) => this.#stage.lend(() => editInEditor(text, env)),
    })
    const answer = (ask: string, picks?: string[]) => desk.answer(ask, picks)
    this.#slot = new InputArea({ tui, place: slot, input: this.#input, theme, clock, answer, broken, room })
    this.#finder = new PaletteOverlay({
      tui,
      theme,
      commands: () => desk.commands,
      pick: (command) => this.#picked(command),
      closed: () => this.#slot.focus(),
      broken,
    })
    this.#wishes = typingKeys({
      desk,
      clock,
      input: this.#input,
      openAll: () => this.#transcript.toggleAll(),
      palette: () => this.#finder.open(''),
      flash: (words) => this.#frame.flash(words),
      leave: () => this.#leave({ why: 'exit' }),
    })
    this.#ticker = new Ticker(clock, this.#over.signal)
    tui.addInputListener((data) => (guard(() => this.#key(data), broken) ? { consume: true } : undefined))
  }

  async opened(): Promise<ChatEnd> {
    const { signal } = this.#parts
    if (signal.aborted) return { why: 'aborted' }
    const abort = () => this.#leave({ why: 'aborted' })
    signal.addEventListener('abort', abort, { once: true })
    bindKeys()
    this.#stage.take()
    this.#desk.setScreen(this.#screen())
    void this.#keepTheme()
    try {
      for await (const happening of this.#desk.events(this.#over.signal)) this.#happened(happening)
      if (!this.#end) await new Promise((resolve) => this.#over.signal.addEventListener('abort', resolve))
    } catch (error) {
      this.broke(error)
    } finally {
      signal.removeEventListener('abort', abort)
      this.restore()
    }
    if (this.#parts.altScreen && this.#end?.why === 'exit')
      this.#terminal.write(farewell(this.#state, this.#context, this.#terminal.columns))
    return this.#end ?? { why: 'exit' }
  }

  /** Gives the terminal back; a second time it does nothing. */
  restore(): void {
    this.#slot.close()
    this.#stage.giveBack()
  }

  broke(error: unknown): void {
    this.#leave({ why: 'broken', message: messageOf(error) })
  }

  /** The first cause wins. */
  #leave(end: ChatEnd): void {
    this.#end ??= end
    this.restore()
    this.#over.abort()
  }

  #happened(happening: DeskEvent): void {
    this.#set(nextState(this.#state, happening, this.#parts.clock.now()))
  }

  #set(state: ChatState): void {
    this.#state = this.#bounded(state)
    const { done, live, fresh, more, asks, queue } = this.#state
    this.#transcript.show(done, live, fresh ? 'welcome' : more ? 'more' : undefined)
    this.#input.setQueue(queue)
    this.#slot.show(asks)
    const working = () => this.#state.running.length > 0
    void this.#ticker.run(stepMs, working, () => this.#stage.repaint())
    this.#stage.repaint()
  }

  /** Nothing is let go while somebody reads further up. */
  #bounded(state: ChatState): ChatState {
    const { scroll } = this.#frame
    if (!scroll) return withoutOldest(state, keptInBuffer)
    const over = state.done.length > mostBlocks && scroll.isFollowingEnd
    return over ? withoutOldest(state, keptBlocks) : state
  }

  #refine(what: 'colours' | 'diffs'): void {
    this.#transcript.refine(what)
    this.#stage.repaint()
  }

  #keepTheme(): Promise<void> {
    const { tui } = this.#frame
    return followBackground(tui, this.#parts.env, (to) => {
      if (!this.#theme.switchTo(to)) return
      tui.invalidate()
      this.#stage.repaint()
    })
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
    const { card } = this.#slot
    const taken = pressKey(data, card ? cardKeys(this.#wishes) : this.#wishes)
    // What is typed on as a card opens is still meant for the input.
    const early = !taken && card !== undefined && !card.wants(data)
    if (early) this.#input.handleInput(data)
    if (taken) this.#stage.repaint()
    return taken || early
  }

  #picked(command: Command): void {
    if (command.words !== undefined) return this.#input.fill(`/${command.name} `)
    this.#input.clear()
    this.#desk.submit(`/${command.name}`)
  }

  #copy(text: string): Promise<string> {
    return copyText(text, this.#parts.env, (data) => this.#terminal.write(data))
  }

  #screen(): CommandScreen {
    return {
      suspend: (work) => this.#stage.lend(work),
      copy: (text) => this.#copy(text),
      clear: () => this.#set(cleared(this.#state)),
      fill: (text) => {
        this.#input.fill(text)
        this.#stage.repaint()
      },
      palette: (query) => this.#finder.open(query ?? ''),
      exit: () => this.#leave({ why: 'exit' }),
    }
  }
}
