import type { Env } from '../base/env.ts'
import type { Terminal } from '@earendil-works/pi-tui'
import type { Clock } from '../base/time/clock.ts'
import type { Command, CommandScreen } from '../core/talk/command.ts'
import type { ThemeName } from '../core/talk/themes.ts'
import type { Background } from './style/theme.ts'
import { isNote } from '../core/talk/command.ts'
import type { ChatDesk, DeskEvent, DeskEvents } from './desk/chat-desk.ts'
import type { ScreenLayout } from './screen/screen-layout.ts'
import type { KeyActions } from './screen/screen-keys.ts'
import type { ChatState } from './state/chat-state.ts'
import type { RenderContext } from './transcript/markdown/render-context.ts'
import { ProcessTerminal } from '@earendil-works/pi-tui'
import { SteadyTime } from '../base/time/clock.ts'
import { shortPath } from '../base/files/short-path.ts'
import { messageOf } from '../base/error-message.ts'
import { InputBox } from './input/input-box.ts'
import { copyText, editInEditor } from './screen/external-programs.ts'
import { farewell, welcome } from './screen/welcome.ts'
import { KeysOverlay } from './keys-page.ts'
import { ListOverlay } from './list-panel.ts'
import { ChatBoard } from './board/chat-board.ts'
import { bindKeys, keyOf } from './desk/keys.ts'
import { elapsed } from './style/numbers.ts'
import { PaletteOverlay } from './palette.ts'
import { screenLayout } from './screen/screen-layout.ts'
import { GuardedComponent, guard } from './screen/guarded-component.ts'
import { stopJob } from './screen/job-control.ts'
import { pressKey, cardKeys, typingKeys } from './screen/screen-keys.ts'
import { restoreAtExit, TerminalControl } from './screen/terminal-control.ts'
import { InputArea } from './screen/input-area.ts'
import { StatusLine } from './screen/status-line.ts'
import { Ticker, WorkingLine, stepMs } from './screen/working-line.ts'
import { BoundedState } from './state/bounded-state.ts'
import { shownStanding } from './state/chat-state.ts'
import { firstBackground, followBackground, ThemeSwitch } from './style/theme.ts'
import { themeFor } from './style/theme-table.ts'
import { ThemeOverlay } from './theme-picker.ts'
import { LazyDetails, canLink } from './transcript/markdown/render-context.ts'
import { Transcript } from './transcript/blocks/transcript-view.ts'

type ChatParts = {
  clock: Clock
  env: Env
  signal: AbortSignal
  /** Whether the chat takes the whole screen, or prints into the terminal's own scrollback. */
  altScreen: boolean
  /** Replaces the terminal of this process, for tests. */
  terminal?: Terminal
  /** Replaces what Ctrl+Z does to this process, for tests; see `stopJob`. */
  stop?(clock: Clock): Promise<number | undefined>
}

/** Why the chat ended; `broken` names the fault. */
export type ChatEnd = { why: 'exit' | 'aborted' } | { why: 'broken'; message: string }

/** Shows the chat on a screen until the person leaves it, and gives the terminal back as it was. */
export async function openChat(desk: ChatDesk, parts: ChatParts): Promise<ChatEnd> {
  const chat = new Chat(desk, parts, parts.terminal ?? new ProcessTerminal())
  const undo = parts.terminal
    ? () => {}
    : restoreAtExit(
        () => chat.restore(),
        (error) => chat.broke(error),
        () => chat.continued(),
      )
  try {
    return await chat.opened()
  } finally {
    undo()
  }
}

class Chat {
  #desk: ChatDesk
  #parts: ChatParts
  #terminal: Terminal
  #events: DeskEvents | undefined
  #state: BoundedState
  #theme: ThemeSwitch
  /** The terminal's background, if known, and the current theme. */
  #colours: { background: Background; name: ThemeName }
  #context: RenderContext
  #transcript: Transcript
  #layout: ScreenLayout
  #input: InputBox
  #inputArea: InputArea
  #board: ChatBoard
  #palette: PaletteOverlay
  #keysPage: KeysOverlay
  #list: ListOverlay
  #themes: ThemeOverlay
  #control: TerminalControl
  /** The second in which the times of working agents were last painted. */
  #second = 0
  #keys: KeyActions
  #ticker: Ticker
  #time: SteadyTime
  #over = new AbortController()
  #end: ChatEnd | undefined

  constructor(desk: ChatDesk, parts: ChatParts, terminal: Terminal) {
    this.#desk = desk
    this.#parts = parts
    this.#terminal = terminal
    const { clock, env, altScreen } = parts
    this.#time = new SteadyTime(clock)
    const { background, name } = (this.#colours = {
      background: firstBackground(env),
      name: desk.standing().theme ?? 'terminal',
    })
    const theme = (this.#theme = new ThemeSwitch(themeFor(env, name, background)))
    theme.setAgents(desk.standing().agents.map(({ name }) => name))
    const broken = (error: unknown) => this.broke(error)
    const later = (work: () => void) => {
      setImmediate(() => guard(work, broken))
    }
    const guarded = <C extends ConstructorParameters<typeof GuardedComponent>[0]>(inner: C) =>
      new GuardedComponent(inner, broken)
    const standing = () => this.#state.now.standing ?? desk.standing()
    this.#state = new BoundedState({
      desk,
      time: this.#time,
      scroll: () => this.#layout.scroll,
      changed: (state) => this.#show(state),
      isOver: () => this.#end !== undefined,
    })
    const lazy = new LazyDetails((what) => this.#refine(what), later)
    const { folder } = desk.standing()
    this.#context = {
      theme,
      lazy,
      ...(folder !== undefined && { shorten: (path: string) => shortPath(path, folder) }),
      links: canLink(env),
      now: () => this.#time.now(),
    }
    this.#transcript = new Transcript({
      context: this.#context,
      welcome: (room) => welcome(standing(), theme, room),
      height: () => this.#layout.height(),
      repaint: () => this.#control.repaint(),
      later,
      nearTop: () => {
        this.#state.loadEarlier().catch(broken)
      },
    })
    this.#board = new ChatBoard({
      desk,
      context: this.#context,
      state: () => this.#state.now,
      typed: () => this.#input.text(),
      popupOpen: () => this.#input.popupOpen(),
      rows: () => terminal.rows,
      flash: (words) => this.#layout.flash(words),
      repaint: () => this.#control.repaint(),
    })
    this.#layout = screenLayout({
      terminal,
      altScreen,
      theme,
      title: () => {
        const { project, session } = standing()
        return session ? ['termaite', project, session] : ['termaite', project]
      },
      transcript: guarded(this.#transcript),
      board: guarded(this.#board.panel),
      working: guarded(
        new WorkingLine(
          theme,
          this.#time,
          () => this.#state.now.running,
          () => this.#state.now.asks.length > 0,
          // The first Ctrl+B is the prefix of tmux, which passes the second on.
          {
            runsFor: () => desk.commandRunsFor(),
            key: () => (env.TMUX && keyOf('background') === 'Ctrl+B' ? 'Ctrl+B twice' : keyOf('background')),
          },
          { rows: (turn) => this.#board.rowsOf(turn), open: () => this.#board.isOpen },
          () => this.#state.now.progress,
        ),
      ),
      status: guarded(
        new StatusLine(
          theme,
          clock,
          () => {
            const next = desk.nextFor?.(this.#input?.text() ?? '')
            return shownStanding(standing(), this.#state.now, { next, now: this.#time.now() })
          },
          () => this.#input?.vimMode,
        ),
      ),
      unseen: () => this.#transcript.unseen,
      reading: () => this.#inputArea?.reading ?? false,
      copy: (text) => this.#copy(text),
    })
    this.#control = new TerminalControl(this.#layout)
    const { tui, inputArea, scroll, room, wholeRoom } = this.#layout
    if (scroll) this.#transcript.scrolledBy(scroll)
    this.#input = new InputBox({
      tui,
      theme,
      desk,
      clock,
      onSubmit: (text) => {
        // A person who sends something wants to see its answer.
        this.#layout.toEnd()
        if (text.startsWith('!')) desk.runShell(text.slice(1))
        else desk.submit(isNote(text) ? `/remember ${text}` : text)
        // The frame of a key is painted before any promise continues, and it must show the prompt that was sent.
        for (const event of this.#events?.takeAll() ?? []) this.#happened(event)
      },
      openPalette: (query) => this.#palette.open(query),
      showKeys: () => this.#keysPage.open(),
      clipboard: async () => (await import('./input/clipboard.ts')).readClipboard({ env, clock }),
      say: (text) => this.#state.say(text),
      wsl: Boolean(env.WSL_DISTRO_NAME || env.WSL_INTEROP),
      edit: (text) => this.#control.lend(() => editInEditor(text, env)),
    })
    this.#input.setVim(standing().vim === true)
    const answer = (ask: string, picks?: string[]) => desk.answer(ask, picks)
    this.#inputArea = new InputArea({
      tui,
      place: inputArea,
      input: this.#input,
      theme,
      clock,
      answer,
      broken,
      room,
      wholeRoom,
    })
    const closed = () => this.#inputArea.focus()
    this.#palette = new PaletteOverlay({
      tui,
      theme,
      commands: () => desk.commands,
      pick: (command) => this.#picked(command),
      showKeys: () => this.#keysPage.open(),
      margin: () => this.#layout.margin(),
      closed,
      broken,
    })
    this.#keysPage = new KeysOverlay({ tui, theme, closed, broken })
    const repaint = () => this.#control.repaint()
    this.#list = new ListOverlay({ tui, theme, margin: () => this.#layout.margin(), repaint, closed, broken })
    this.#themes = new ThemeOverlay({
      tui,
      theme,
      margin: () => this.#layout.margin(),
      preview: (theme) => this.#recolour({ name: theme }),
      closed,
      broken,
    })
    this.#keys = typingKeys({
      desk,
      clock,
      input: this.#input,
      openAll: () => this.#transcript.toggleAll(),
      board: () => this.#board.toggle(),
      palette: () => this.#palette.open(''),
      page: (by) => this.#page(by),
      suspend: () => {
        this.#suspend().catch(broken)
      },
      flash: (words) => this.#layout.flash(words),
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
    bindKeys(this.#desk.standing().keys)
    this.#control.take()
    this.#desk.setScreen(this.#screen())
    // The terminal may name its background at any time.
    void this.#followTheme()
    try {
      this.#events = this.#desk.events(this.#over.signal)
      for await (const event of this.#events) this.#happened(event)
      if (!this.#end) await new Promise((resolve) => this.#over.signal.addEventListener('abort', resolve))
    } catch (error) {
      this.broke(error)
    } finally {
      signal.removeEventListener('abort', abort)
      this.restore()
    }
    if (this.#parts.altScreen && this.#end?.why === 'exit')
      this.#terminal.write(farewell(this.#state.now, this.#context, this.#terminal.columns))
    return this.#end ?? { why: 'exit' }
  }

  /** Gives the terminal back; does nothing a second time. */
  restore(): void {
    this.#inputArea.close()
    this.#control.giveBack()
  }

  /** Takes the terminal again after something other than Ctrl+Z here stopped and continued the process. */
  continued(): void {
    this.#control.retake()
  }

  /** Gives the terminal to the shell until the person continues this job, then says what the agents did meanwhile. */
  async #suspend(): Promise<void> {
    const { clock, stop = stopJob } = this.#parts
    const names = [...new Set(this.#state.now.running.map(({ by }) => by ?? 'the agent'))]
    const stopped = await this.#control.lend(() => stop(clock))
    if (this.#end) return
    if (stopped === undefined) return this.#layout.flash('No shell here can suspend termaite')
    if (names.length === 0) return
    const text = `Suspended for ${elapsed(stopped)}; ${names.join(' and ')} kept working meanwhile.`
    this.#state.say(text)
  }

  broke(error: unknown): void {
    this.#leave({ why: 'broken', message: messageOf(error) })
  }

  /** Ends the chat. The first cause is the one that is reported. */
  #leave(end: ChatEnd): void {
    this.#end ??= end
    this.restore()
    this.#over.abort()
  }

  #happened(event: DeskEvent): void {
    if (event.type === 'standing') {
      if (this.#theme.setAgents(event.standing.agents.map(({ name }) => name))) this.#layout.tui.invalidate()
      this.#input.setVim(event.standing.vim === true)
      bindKeys(event.standing.keys)
      // While the person tries themes, the screen shows the one that they try.
      if (!this.#themes.isOpen) this.#recolour({ name: event.standing.theme ?? 'terminal' })
    }
    if (event.type === 'commands') this.#input.completeAgain()
    this.#state.take(event)
    // The desk continues with the whole of a long history, which would delay the next frame.
    if (event.type === 'opened') this.#control.paint()
  }

  #show({ done, live, fresh, more, asks, queue }: ChatState): void {
    this.#transcript.show(done, live, fresh ? 'welcome' : more ? 'more' : undefined)
    this.#input.setQueue(queue)
    this.#inputArea.show(asks)
    const working = () => this.#state.now.running.length + this.#state.now.progress.length > 0
    // Ticks until no turn and no command runs.
    void this.#ticker.run(stepMs, working, () => this.#tick())
    this.#control.repaint()
  }

  #tick(): void {
    const second = Math.floor(this.#time.now() / 1000)
    if (second !== this.#second) this.#transcript.tick()
    this.#second = second
    this.#control.repaint()
  }

  #refine(what: 'colours' | 'diffs'): void {
    this.#transcript.refine(what)
    this.#control.repaint()
  }

  #followTheme(): Promise<void> {
    return followBackground(this.#layout.tui, this.#parts.env, (background) => this.#recolour({ background }))
  }

  #recolour(change: Partial<{ background: Background; name: ThemeName }>): void {
    const { name, background } = (this.#colours = { ...this.#colours, ...change })
    if (!this.#theme.switchTo(themeFor(this.#parts.env, name, background))) return
    this.#layout.tui.invalidate()
    this.#control.repaint()
  }

  #key(data: string): boolean {
    if (this.#layout.tui.hasOverlay()) return false
    const { card } = this.#inputArea
    if (!card && this.#board.press(data)) {
      this.#control.repaint()
      return true
    }
    // Keys typed just as a card opens keep their earlier meaning: they go to the input, or cancel the turn.
    const early = card !== undefined && !card.wants(data)
    const taken = pressKey(data, card && !early ? cardKeys(this.#keys) : this.#keys)
    if (early && !taken) this.#input.handleInput(data)
    if (taken || early) this.#control.repaint()
    return taken || early
  }

  /** Turns the page of a long card, or else of the transcript; in the normal buffer the terminal itself scrolls. */
  #page(by: 1 | -1): boolean {
    if (this.#inputArea.card?.turnPage(by)) return true
    if (this.#layout.scroll) this.#layout.page(by)
    return this.#layout.scroll !== undefined
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
      suspend: (work) => this.#control.lend(work),
      copy: (text) => this.#copy(text),
      clear: () => this.#state.clear(),
      fill: (text) => {
        this.#input.fill(text)
        this.#control.repaint()
      },
      palette: (query) => this.#palette.open(query ?? ''),
      keys: () => this.#keysPage.open(),
      list: (view) => this.#list.open(view),
      board: (earlier) => this.#board.show(earlier),
      theme: (now, cancelled) => this.#themes.pick(now, cancelled),
      exit: () => this.#leave({ why: 'exit' }),
    }
  }
}
