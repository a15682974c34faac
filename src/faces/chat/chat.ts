import type { Terminal } from '@earendil-works/pi-tui'
import type { Clock } from '../../base/clock.ts'
import type { Command, CommandScreen } from '../../core/talk/command.ts'
import type { Desk, Happening, Standing } from './desk.ts'
import type { Frame } from './screen/frame.ts'
import type { Wishes } from './screen/keys.ts'
import type { State } from './state.ts'
import type { Look } from './transcript/look.ts'
import { ProcessTerminal } from '@earendil-works/pi-tui'
import { wordsOf } from '../../base/words.ts'
import { InputBox } from './input/input.ts'
import { copyText } from './screen/clipboard.ts'
import { editedText } from './screen/editor.ts'
import { farewell } from './screen/farewell.ts'
import { Finder } from './screen/finder.ts'
import { frameOf } from './screen/frame.ts'
import { Guarded, guard } from './screen/guarded.ts'
import { claimKeys, pressed } from './screen/keys.ts'
import { restoredAtExit } from './screen/restore.ts'
import { Slot } from './screen/slot.ts'
import { Stage } from './screen/stage.ts'
import { StatusLine } from './screen/status-line.ts'
import { Ticker } from './screen/ticker.ts'
import { welcome } from './screen/welcome.ts'
import { answering, typing } from './screen/wishes.ts'
import { WorkingLine, stepMs } from './screen/working-line.ts'
import { blank, cleared, next, withAtMost, withEarlier } from './state.ts'
import { firstTheme, keepTheme } from './theme/background.ts'
import { ThemeSwitch } from './theme/switch.ts'
import { Late } from './transcript/late.ts'
import { canLink } from './transcript/look.ts'
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
  const undo = parts.terminal
    ? () => {}
    : restoredAtExit(
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
function thinking({ running }: State): Pick<Standing, 'thinking'> {
  const phase = running.at(-1)?.phase
  return phase ? { thinking: phase.framework } : {}
}

class Chat {
  #desk: Desk
  #parts: ChatParts
  #terminal: Terminal
  #state: State = blank
  #theme: ThemeSwitch
  #look: Look
  #transcript: Transcript
  #frame: Frame
  #input: InputBox
  #slot: Slot
  #finder: Finder
  #stage: Stage
  #loading = false
  #wishes: Wishes
  #ticker: Ticker
  #over = new AbortController()
  #end: ChatEnd | undefined

  constructor(desk: Desk, parts: ChatParts, terminal: Terminal) {
    this.#desk = desk
    this.#parts = parts
    this.#terminal = terminal
    const { clock, env, altScreen } = parts
    const theme = (this.#theme = new ThemeSwitch(firstTheme(env)))
    const broken = (error: unknown) => this.broke(error)
    const later = (work: () => void) => void setImmediate(() => guard(work, broken))
    const guarded = <C extends ConstructorParameters<typeof Guarded>[0]>(inner: C) => new Guarded(inner, broken)
    const standing = () => this.#state.standing ?? desk.standing()
    const late = new Late((what) => this.#refine(what), later)
    this.#look = { theme, late, links: canLink(env), sides: altScreen }
    this.#transcript = new Transcript({
      look: this.#look,
      welcome: (room) => welcome(standing(), theme, room),
      height: () => this.#frame.height(),
      repaint: () => this.#stage.repaint(),
      later,
      nearTop: () => void this.#loadEarlier().catch(broken),
    })
    this.#frame = frameOf({
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
    this.#stage = new Stage(this.#frame, { preserveScreen: altScreen })
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
      edit: (text) => this.#stage.lend(() => editedText(text, env)),
    })
    const answer = (ask: string, picks?: string[]) => desk.answer(ask, picks)
    this.#slot = new Slot({ tui, place: slot, input: this.#input, theme, clock, answer, broken, room })
    this.#finder = new Finder({
      tui,
      theme,
      commands: () => desk.commands,
      pick: (command) => this.#picked(command),
      closed: () => this.#slot.focus(),
      broken,
    })
    this.#wishes = typing({
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
    claimKeys()
    this.#stage.take()
    this.#desk.seatedAt(this.#screen())
    void this.#keepTheme()
    try {
      for await (const happening of this.#desk.happenings(this.#over.signal)) this.#happened(happening)
      if (!this.#end) await new Promise((resolve) => this.#over.signal.addEventListener('abort', resolve))
    } catch (error) {
      this.broke(error)
    } finally {
      signal.removeEventListener('abort', abort)
      this.restore()
    }
    if (this.#parts.altScreen && this.#end?.why === 'exit')
      this.#terminal.write(farewell(this.#state, this.#look, this.#terminal.columns))
    return this.#end ?? { why: 'exit' }
  }

  /** Gives the terminal back; a second time it does nothing. */
  restore(): void {
    this.#slot.close()
    this.#stage.giveBack()
  }

  broke(error: unknown): void {
    this.#leave({ why: 'broken', message: wordsOf(error) })
  }

  /** The first cause wins. */
  #leave(end: ChatEnd): void {
    this.#end ??= end
    this.restore()
    this.#over.abort()
  }

  #happened(happening: Happening): void {
    this.#set(next(this.#state, happening, this.#parts.clock.now()))
  }

  #set(state: State): void {
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
  #bounded(state: State): State {
    const { scroll } = this.#frame
    if (!scroll) return withAtMost(state, keptInBuffer)
    const over = state.done.length > mostBlocks && scroll.isFollowingEnd
    return over ? withAtMost(state, keptBlocks) : state
  }

  #refine(what: 'colours' | 'diffs'): void {
    this.#transcript.refine(what)
    this.#stage.repaint()
  }

  #keepTheme(): Promise<void> {
    const { tui } = this.#frame
    return keepTheme(tui, this.#parts.env, (to) => {
      if (!this.#theme.turn(to)) return
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
    const taken = pressed(data, card ? answering(this.#wishes) : this.#wishes)
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
