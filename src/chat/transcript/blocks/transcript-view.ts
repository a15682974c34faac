import type { Component, TuiMouseEvent, TuiMouseEventResult } from '@earendil-works/pi-tui'
import type { Block } from '../block.ts'
import type { ScrollAnchor } from './transcript-layout.ts'
import type { RenderContext } from '../markdown/render-context.ts'
import { isAtWork } from '../agent-rows.ts'
import { canOpen } from '../block.ts'
import { TranscriptLayout, PlacedBlock, leadDiffers, roughSize } from './transcript-layout.ts'

/** The part of the library's scroll view that the transcript uses. */
export type Scroll = {
  readonly scrollTop: number
  readonly isFollowingEnd: boolean
  readonly viewportHeight: number
  updateLayout(contentHeight: number, viewportHeight: number, requestRender: () => void): void
  scrollTo(scrollTop: number): void
}

/** The space for the welcome: how many lines are `below` it, and whether the person has `spoken` yet. */
export type Room = { width: number; height: number; below: number; spoken: boolean }

/** The lines above the first block: the welcome, or a hint that there are earlier messages. */
type Above = 'welcome' | 'more'

type TranscriptParts = {
  context: RenderContext
  /** The lines that an empty conversation begins with. */
  welcome(room: Room): string[]
  /** How many rows the transcript has. */
  height(): number
  repaint(): void
  /** Runs work when nothing more urgent waits. */
  later(work: () => void): void
  /** Called near the top, to load earlier entries. */
  nearTop(): void
}

/** Characters outside the view that are rendered in one go. */
const sliceSize = 8000

/**
 * The conversation as lines. Only the visible blocks are rendered at once; the others follow bit by bit, and the first visible line stays
 * in place whatever changes above it.
 */
export class Transcript implements Component {
  #parts: TranscriptParts
  #scroll: Scroll | undefined
  #done: readonly Block[] = []
  #placed: PlacedBlock[] = []
  #stale = new Set<PlacedBlock>()
  /** Whether a frame with blocks has been painted. */
  #wasShown = false
  #layout = new TranscriptLayout()
  #above: Above | undefined
  #width = 0
  #opened = new Map<number, boolean>()
  #allOpen = false
  #seen = -1
  #working = false
  /** An output of a command that was not shown yet: the view starts at its beginning. */
  #unread: PlacedBlock | undefined

  constructor(parts: TranscriptParts) {
    this.#parts = parts
  }

  /** Without a scroll view everything is rendered at once, because the terminal itself scrolls. */
  scrolledBy(scroll: Scroll): void {
    this.#scroll = scroll
  }

  show(done: readonly Block[], live: readonly Block[], above: Above | undefined): void {
    this.#above = above
    const from = done === this.#done ? Math.min(done.length, this.#placed.length) : 0
    this.#done = done
    const total = done.length + live.length
    const blockAt = (at: number) => (at < done.length ? done[at]! : live[at - done.length]!)
    let same = from
    while (same < total && this.#placed[same]?.block.key === blockAt(same).key) this.#update(same, blockAt(same++))
    if (same < total || same < this.#placed.length) this.#replaceFrom(same, total, blockAt)
  }

  /** How many blocks were added below since the end was last visible. */
  get unseen(): number {
    // The keys of blocks grow downwards, except those of earlier blocks that were loaded later. The block with the key `#seen` may be
    // gone, so keys are compared.
    return this.#placed.length - 1 - this.#placed.findLastIndex(({ block }) => block.key <= this.#seen)
  }

  /** Opens all blocks that can open, or folds them. */
  toggleAll(): void {
    this.#allOpen = !this.#allOpen
    this.#opened.clear()
    this.#staleAll(({ block }) => canOpen(block))
  }

  /** Renders again the blocks that were painted without colours or diffs. */
  refine(what: 'colours' | 'diffs'): void {
    const gains = ({ block }: PlacedBlock) =>
      what === 'diffs'
        ? block.type === 'call' && block.changes.length > 0
        : (block.type === 'reply' || block.type === 'told') && /^\s*(```|~~~)/m.test(block.text)
    for (const placed of this.#placed) if (gains(placed)) placed.forget()
    this.#staleAll(gains)
  }

  /** Renders the boards with working agents again, because the times on them advance. */
  tick(): void {
    for (const placed of this.#placed.slice(this.#done.length))
      if (placed.block.type === 'board' && placed.block.rows.some(isAtWork)) this.#stale.add(placed)
  }

  invalidate(): void {
    for (const placed of this.#placed) placed.forget()
    this.#staleAll(() => true)
  }

  handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
    if (event.type !== 'click' || event.button !== 'left') return undefined
    if (!this.#layout.blockAt(event.y)) return undefined
    const { placed: clicked, into } = this.#layout.anchorAt(event.y)!
    if (!canOpen(clicked.block)) return undefined
    const key = clicked.block.type === 'board' ? clicked.rowAt(into) : clicked.block.key
    if (key === undefined) return undefined
    this.#opened.set(key, !this.#isOpenKey(key))
    this.#stale.add(clicked)
    return { handled: true }
  }

  render(columns: number): string[] {
    // The last column is left to the scroll bar, which comes and goes and would hide the ends of lines.
    const width = this.#scroll ? Math.max(1, columns - 1) : columns
    if (width !== this.#width) this.#staleAll(() => true)
    this.#width = width
    const anchor = this.#anchor()
    this.#refreshInSight(anchor)
    this.#layOut(anchor)
    this.#scheduleRest()
    this.#notice()
    return this.#layout.lines
  }

  #layOut(anchor: ScrollAnchor | undefined): void {
    this.#layout.setHead(this.#headLines(this.#width))
    const from = this.#layout.layOut(this.#placed, this.#width)
    if (anchor && from !== undefined && from <= anchor.placed.at) this.#keep(anchor)
    else if (!anchor) this.#showUnread()
    this.#unread = undefined
  }

  /** Scrolls to the beginning of a text of a command that is longer than the screen. */
  #showUnread(): void {
    const placed = this.#unread
    const line = placed && this.#layout.lineOf({ placed, into: 0 })
    if (line === undefined || this.#layout.lines.length - line <= this.#parts.height()) return
    // An empty line separates the text from the block before it.
    this.#keep({ placed: placed!, into: placed!.before ? 1 : 0 })
  }

  #headLines(width: number): readonly string[] {
    const { context, welcome, height } = this.#parts
    switch (this.#above) {
      case 'welcome':
        return welcome({
          width,
          height: height(),
          below: this.#placed.slice(0, height()).reduce((sum, { lines }) => sum + lines.length, 0),
          spoken: this.#placed.some(({ block }) => block.type === 'prompt'),
        })
      case 'more':
        return [context.theme.quiet('↑ earlier messages'), '']
      default:
        return []
    }
  }

  #isOpen(block: Block): boolean {
    return canOpen(block) && this.#isOpenKey(block.key)
  }

  #isOpenKey = (key: number): boolean => this.#opened.get(key) ?? this.#allOpen

  #staleAll(which: (placed: PlacedBlock) => boolean): void {
    for (const placed of this.#placed.toReversed()) if (which(placed)) this.#stale.add(placed)
    this.#layout.touch(0)
  }

  #update(at: number, block: Block): void {
    const placed = this.#placed[at]!
    const before = this.#placed[at - 1]?.block
    if (placed.block === block && !leadDiffers(placed.before, before)) return
    placed.block = block
    placed.before = before
    this.#stale.add(placed)
    this.#layout.touch(at)
  }

  #replaceFrom(from: number, total: number, blockAt: (at: number) => Block): void {
    const known = new Map(this.#placed.splice(from).map((placed) => [placed.block.key, placed]))
    for (let at = from; at < total; at++) {
      const block = blockAt(at)
      const placed = known.get(block.key) ?? new PlacedBlock(block)
      if (!known.delete(block.key) && block.type === 'told' && (block.how === 'text' || block.how === 'aside'))
        this.#unread ??= placed
      placed.at = at
      this.#placed.push(placed)
      this.#update(at, block)
    }
    // The last blocks come first, because they are visible.
    for (const placed of this.#placed.slice(from).reverse())
      if (this.#stale.delete(placed) || placed.lines.length === 0) this.#stale.add(placed)
    for (const gone of known.values()) this.#stale.delete(gone)
    this.#layout.touch(from)
  }

  /** The first visible line; undefined while the view follows the end. */
  #anchor(): ScrollAnchor | undefined {
    const scroll = this.#scroll
    return !scroll || scroll.isFollowingEnd ? undefined : this.#layout.anchorAt(scroll.scrollTop)
  }

  #refresh(placed: PlacedBlock): void {
    placed.refresh(this.#width, this.#parts.context, this.#isOpen(placed.block), this.#isOpenKey)
    this.#stale.delete(placed)
    this.#layout.touch(placed.at)
  }

  #refreshInSight(anchor: ScrollAnchor | undefined): void {
    if (this.#stale.size === 0) return
    if (!this.#scroll) {
      for (const placed of this.#stale) this.#refresh(placed)
      return
    }
    // Renders one screen beyond the visible part, so that a page up has something to show. The first frame does not wait for that.
    const wanted = (this.#wasShown ? 2 : 1) * Math.max(this.#scroll.viewportHeight, 50)
    this.#wasShown = true
    const step = anchor ? 1 : -1
    let height = anchor ? -anchor.into : 0
    for (let at = anchor?.placed.at ?? this.#placed.length - 1; height < wanted; at += step) {
      const placed = this.#placed[at]
      if (!placed) return
      if (this.#stale.has(placed)) this.#refresh(placed)
      height += placed.lines.length
    }
  }

  /** Scrolls so that the first visible line stays in place. */
  #keep(anchor: ScrollAnchor): void {
    const scroll = this.#scroll
    const line = this.#layout.lineOf(anchor)
    if (!scroll || line === undefined) return
    scroll.updateLayout(this.#layout.lines.length, scroll.viewportHeight, this.#parts.repaint)
    scroll.scrollTo(line)
  }

  #scheduleRest(): void {
    if (this.#stale.size === 0 || this.#working) return
    this.#working = true
    this.#parts.later(() => {
      this.#working = false
      let size = 0
      for (const placed of this.#stale) {
        if (size > sliceSize) break
        size += 100 + roughSize(placed.block)
        this.#refresh(placed)
      }
      this.#parts.repaint()
    })
  }

  #notice(): void {
    const scroll = this.#scroll
    if (!scroll || scroll.isFollowingEnd) this.#seen = this.#placed.at(-1)?.block.key ?? -1
    const near = scroll && scroll.scrollTop <= scroll.viewportHeight
    if (this.#above === 'more' && near) this.#parts.nearTop()
  }
}
