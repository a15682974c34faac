import type { Component, TuiMouseEvent, TuiMouseEventResult } from '@earendil-works/pi-tui'
import type { Block } from './block.ts'
import type { ScrollAnchor } from './transcript-layout.ts'
import type { RenderContext } from './render-context.ts'
import { canOpen } from './block.ts'
import { TranscriptLayout, PlacedBlock, leadDiffers, roughSize } from './transcript-layout.ts'
import { innerWidth, withSides } from '../border.ts'

/** What is scrolled, as the library has it. */
export type Scroll = {
  readonly scrollTop: number
  readonly isFollowingEnd: boolean
  readonly viewportHeight: number
  updateLayout(contentHeight: number, viewportHeight: number, requestRender: () => void): void
  scrollTo(scrollTop: number): void
}

/** The room for the welcome: how many lines stand `below` it, and whether the person has `spoken` yet. */
export type Room = { width: number; height: number; below: number; spoken: boolean }

/** What stands above the first block: the beginning of it all, or that there is more. */
export type Above = 'welcome' | 'more'

export type TranscriptParts = {
  context: RenderContext
  /** What a conversation begins with. */
  welcome(room: Room): string[]
  /** How many rows there are for it. */
  height(): number
  repaint(): void
  /** Runs work when nothing more urgent is to be done. */
  later(work: () => void): void
  /** The top is near: more of the past is wanted. */
  nearTop(): void
}

/** Characters that are rendered in one go when nobody sees them yet. */
const sliceSize = 8000

/**
 * The whole of what was said, as lines. Only what is in sight is rendered at once; the rest follows bit by bit,
 * and the first line in sight stays where it is whatever happens above it.
 */
export class Transcript implements Component {
  #parts: TranscriptParts
  #scroll: Scroll | undefined
  #done: readonly Block[] = []
  #mounted: PlacedBlock[] = []
  #stale = new Set<PlacedBlock>()
  #layout = new TranscriptLayout()
  #above: Above | undefined
  #width = 0
  #opened = new Map<number, boolean>()
  #allOpen = false
  #seen = -1
  #working = false

  constructor(parts: TranscriptParts) {
    this.#parts = parts
  }

  /** Without it everything is rendered at once: the terminal itself does the scrolling. */
  scrolledBy(scroll: Scroll): void {
    this.#scroll = scroll
  }

  show(done: readonly Block[], live: readonly Block[], above: Above | undefined): void {
    this.#above = above
    const from = done === this.#done ? Math.min(done.length, this.#mounted.length) : 0
    this.#done = done
    const total = done.length + live.length
    const blockAt = (at: number) => (at < done.length ? done[at]! : live[at - done.length]!)
    let same = from
    while (same < total && this.#mounted[same]?.block.key === blockAt(same).key) this.#update(same, blockAt(same++))
    if (same < total || same < this.#mounted.length) this.#remount(same, total, blockAt)
  }

  /** How many blocks came below since the end was last in sight. */
  get unseen(): number {
    // Keys grow downwards, but those of blocks that were loaded above: the last one that was seen may be gone.
    return this.#mounted.length - 1 - this.#mounted.findLastIndex(({ block }) => block.key <= this.#seen)
  }

  /** Opens everything that opens, or folds it. */
  toggleAll(): void {
    this.#allOpen = !this.#allOpen
    this.#opened.clear()
    this.#staleAll(({ block }) => canOpen(block))
  }

  /** What was painted without its colours or its changes can have them now. */
  refine(what: 'colours' | 'diffs'): void {
    const gains = ({ block }: PlacedBlock) =>
      what === 'diffs'
        ? block.type === 'call' && block.changes.length > 0
        : (block.type === 'reply' || block.type === 'told') && /^\s*(```|~~~)/m.test(block.text)
    for (const mounted of this.#mounted) if (gains(mounted)) mounted.forget()
    this.#staleAll(gains)
  }

  invalidate(): void {
    for (const mounted of this.#mounted) mounted.forget()
    this.#staleAll(() => true)
  }

  handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
    if (event.type !== 'click' || event.button !== 'left') return undefined
    const clicked = this.#layout.blockAt(event.y)
    if (!clicked || !canOpen(clicked.block)) return undefined
    this.#opened.set(clicked.block.key, !this.#isOpen(clicked.block))
    this.#stale.add(clicked)
    return { handled: true }
  }

  render(width: number): string[] {
    if (width !== this.#width) this.#staleAll(() => true)
    this.#width = width
    const spot = this.#spot()
    this.#refreshInSight(spot)
    this.#layOut(spot)
    this.#scheduleRest()
    this.#notice()
    return this.#layout.lines
  }

  #layOut(spot: ScrollAnchor | undefined): void {
    const { context, height } = this.#parts
    const side = (line: string) => (context.sides ? withSides(line, this.#width, context.theme) : line)
    this.#layout.setHead(this.#headLines(context.sides ? innerWidth(this.#width) : this.#width).map(side))
    const from = this.#layout.layOut(this.#mounted, this.#width)
    if (spot && from !== undefined && from <= spot.mounted.at) this.#keep(spot)
    // The sides go down to the lower edge however little there is between them.
    this.#layout.fill(context.sides ? height() : 0, side(''))
  }

  #headLines(width: number): readonly string[] {
    const { context, welcome, height } = this.#parts
    switch (this.#above) {
      case 'welcome':
        return welcome({
          width,
          height: height(),
          below: this.#mounted.slice(0, height()).reduce((sum, { lines }) => sum + lines.length, 0),
          spoken: this.#mounted.some(({ block }) => block.type === 'prompt'),
        })
      case 'more':
        return [context.theme.quiet('↑ earlier messages'), '']
      default:
        return []
    }
  }

  #isOpen(block: Block): boolean {
    return canOpen(block) && (this.#opened.get(block.key) ?? this.#allOpen)
  }

  #staleAll(which: (mounted: PlacedBlock) => boolean): void {
    for (const mounted of this.#mounted.toReversed()) if (which(mounted)) this.#stale.add(mounted)
    this.#layout.touch(0)
  }

  #update(at: number, block: Block): void {
    const mounted = this.#mounted[at]!
    const before = this.#mounted[at - 1]?.block
    if (mounted.block === block && !leadDiffers(mounted.before, before)) return
    mounted.block = block
    mounted.before = before
    this.#stale.add(mounted)
    this.#layout.touch(at)
  }

  #remount(from: number, total: number, blockAt: (at: number) => Block): void {
    const known = new Map(this.#mounted.splice(from).map((mounted) => [mounted.block.key, mounted]))
    for (let at = from; at < total; at++) {
      const block = blockAt(at)
      const mounted = known.get(block.key) ?? new PlacedBlock(block)
      known.delete(block.key)
      mounted.at = at
      this.#mounted.push(mounted)
      this.#update(at, block)
    }
    // The last first: that is where people look.
    for (const mounted of this.#mounted.slice(from).reverse())
      if (this.#stale.delete(mounted) || mounted.lines.length === 0) this.#stale.add(mounted)
    for (const gone of known.values()) this.#stale.delete(gone)
    this.#layout.touch(from)
  }

  /** The first line in sight; undefined at the end, which is followed. */
  #spot(): ScrollAnchor | undefined {
    const scroll = this.#scroll
    return !scroll || scroll.isFollowingEnd ? undefined : this.#layout.spotAt(scroll.scrollTop)
  }

  #refresh(mounted: PlacedBlock): void {
    mounted.refresh(this.#width, this.#parts.context, this.#isOpen(mounted.block))
    this.#stale.delete(mounted)
    this.#layout.touch(mounted.at)
  }

  #refreshInSight(spot: ScrollAnchor | undefined): void {
    if (this.#stale.size === 0) return
    if (!this.#scroll) {
      for (const mounted of this.#stale) this.#refresh(mounted)
      return
    }
    // A screen more than is in sight, so that a page up has something to show.
    const wanted = 2 * Math.max(this.#scroll.viewportHeight, 50)
    const step = spot ? 1 : -1
    let height = spot ? -spot.into : 0
    for (let at = spot?.mounted.at ?? this.#mounted.length - 1; height < wanted; at += step) {
      const mounted = this.#mounted[at]
      if (!mounted) return
      if (this.#stale.has(mounted)) this.#refresh(mounted)
      height += mounted.lines.length
    }
  }

  /** Scrolls so that what was in sight still is. */
  #keep(spot: ScrollAnchor): void {
    const scroll = this.#scroll!
    const line = this.#layout.lineOf(spot)
    if (line === undefined) return
    scroll.updateLayout(this.#layout.full, scroll.viewportHeight, this.#parts.repaint)
    scroll.scrollTo(line)
  }

  #scheduleRest(): void {
    if (this.#stale.size === 0 || this.#working) return
    this.#working = true
    this.#parts.later(() => {
      this.#working = false
      let size = 0
      for (const mounted of this.#stale) {
        if (size > sliceSize) break
        size += 100 + roughSize(mounted.block)
        this.#refresh(mounted)
      }
      this.#parts.repaint()
    })
  }

  #notice(): void {
    const scroll = this.#scroll
    if (!scroll || scroll.isFollowingEnd) this.#seen = this.#mounted.at(-1)?.block.key ?? -1
    const near = scroll && scroll.scrollTop <= scroll.viewportHeight
    if (this.#above === 'more' && near) this.#parts.nearTop()
  }
}
