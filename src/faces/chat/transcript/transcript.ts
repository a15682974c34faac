import type { Component, TuiMouseEvent, TuiMouseEventResult } from '@earendil-works/pi-tui'
import type { Block } from './block.ts'
import type { Look } from './look.ts'
import { opens } from './block.ts'
import { Mounted, beginsOtherwise, roughSize } from './mounted.ts'
import { inside, sided } from './sides.ts'

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
  look: Look
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
  #mounted: Mounted[] = []
  #stale = new Set<Mounted>()
  #dirty = 0
  #above: Above | undefined
  #head: readonly string[] = []
  /** The blocks' lines, then empty ones down to the lower edge; `#full` is how many are the blocks'. */
  #lines: string[] = []
  #full = 0
  /** Where each block began in the lines as they were last painted, and whose it was. */
  #starts: number[] = []
  #painted: Mounted[] = []
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
    this.#staleAll(({ block }) => opens(block))
  }

  /** What was painted without its colours or its changes can have them now. */
  refine(what: 'colours' | 'diffs'): void {
    const gains = ({ block }: Mounted) =>
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
    const clicked = this.#painted[this.#indexAt(event.y)]
    if (!clicked || !opens(clicked.block)) return undefined
    this.#opened.set(clicked.block.key, !this.#isOpen(clicked.block))
    this.#stale.add(clicked)
    return { handled: true }
  }

  render(width: number): string[] {
    if (width !== this.#width) this.#staleAll(() => true)
    this.#width = width
    const place = this.#place()
    this.#refreshInSight(place)
    this.#setHead()
    if (this.#dirty < Infinity) this.#layOut(place)
    this.#scheduleRest()
    this.#notice()
    this.#fill()
    return this.#lines
  }

  #setHead(): void {
    const { look } = this.#parts
    const lines = this.#headLines(look.sides ? inside(this.#width) : this.#width)
    const head = look.sides ? lines.map((line) => sided(line, this.#width, look.theme)) : lines
    if (head.length === this.#head.length && head.every((line, at) => line === this.#head[at])) return
    this.#head = head
    this.#touch(0)
  }

  #headLines(width: number): readonly string[] {
    const { look, welcome, height } = this.#parts
    switch (this.#above) {
      case 'welcome':
        return welcome({
          width,
          height: height(),
          below: this.#mounted.slice(0, height()).reduce((sum, { lines }) => sum + lines.length, 0),
          spoken: this.#mounted.some(({ block }) => block.type === 'prompt'),
        })
      case 'more':
        return [look.theme.quiet('↑ earlier messages'), '']
      default:
        return []
    }
  }

  /** The sides go down to the lower edge however little there is between them. */
  #fill(): void {
    const { look, height } = this.#parts
    this.#lines.length = this.#full
    if (!look.sides || this.#full >= height()) return
    const line = sided('', this.#width, look.theme)
    while (this.#lines.length < height()) this.#lines.push(line)
  }

  #isOpen(block: Block): boolean {
    return opens(block) && (this.#opened.get(block.key) ?? this.#allOpen)
  }

  #touch(at: number): void {
    this.#dirty = Math.min(this.#dirty, at)
  }

  #staleAll(which: (mounted: Mounted) => boolean): void {
    for (const mounted of this.#mounted.toReversed()) if (which(mounted)) this.#stale.add(mounted)
    this.#touch(0)
  }

  #update(at: number, block: Block): void {
    const mounted = this.#mounted[at]!
    const before = this.#mounted[at - 1]?.block
    if (mounted.block === block && !beginsOtherwise(mounted.before, before)) return
    mounted.block = block
    mounted.before = before
    this.#stale.add(mounted)
    this.#touch(at)
  }

  #remount(from: number, total: number, blockAt: (at: number) => Block): void {
    const known = new Map(this.#mounted.splice(from).map((mounted) => [mounted.block.key, mounted]))
    for (let at = from; at < total; at++) {
      const block = blockAt(at)
      const mounted = known.get(block.key) ?? new Mounted(block)
      known.delete(block.key)
      mounted.at = at
      this.#mounted.push(mounted)
      this.#update(at, block)
    }
    // The last first: that is where people look.
    for (const mounted of this.#mounted.slice(from).reverse())
      if (this.#stale.delete(mounted) || mounted.lines.length === 0) this.#stale.add(mounted)
    for (const gone of known.values()) this.#stale.delete(gone)
    this.#touch(from)
  }

  /** The block at the first line in sight and how far into it that is; undefined at the end, which is followed. */
  #place(): { mounted: Mounted; into: number } | undefined {
    const scroll = this.#scroll
    if (!scroll || scroll.isFollowingEnd || this.#painted.length === 0) return undefined
    const index = this.#indexAt(scroll.scrollTop)
    const mounted = this.#painted[Math.max(0, index)]!
    return { mounted, into: scroll.scrollTop - this.#starts[Math.max(0, index)]! }
  }

  /** The block that a line belongs to, -1 above the first. */
  #indexAt(line: number): number {
    let [low, high] = [0, this.#starts.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#starts[middle]! <= line) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  #refresh(mounted: Mounted): void {
    mounted.refresh(this.#width, this.#parts.look, this.#isOpen(mounted.block))
    this.#stale.delete(mounted)
    this.#touch(mounted.at)
  }

  #refreshInSight(place: { mounted: Mounted; into: number } | undefined): void {
    if (this.#stale.size === 0) return
    if (!this.#scroll) {
      for (const mounted of this.#stale) this.#refresh(mounted)
      return
    }
    // A screen more than is in sight, so that a page up has something to show.
    const wanted = 2 * Math.max(this.#scroll.viewportHeight, 50)
    const step = place ? 1 : -1
    let height = place ? -place.into : 0
    for (let at = place?.mounted.at ?? this.#mounted.length - 1; height < wanted; at += step) {
      const mounted = this.#mounted[at]
      if (!mounted) return
      if (this.#stale.has(mounted)) this.#refresh(mounted)
      height += mounted.lines.length
    }
  }

  #layOut(place: { mounted: Mounted; into: number } | undefined): void {
    const from = this.#dirty
    this.#dirty = Infinity
    this.#lines.length = from === 0 ? 0 : (this.#starts[from] ?? this.#full)
    if (from === 0) this.#lines.push(...this.#head)
    this.#starts.length = this.#painted.length = from
    for (let at = from; at < this.#mounted.length; at++) {
      const mounted = this.#mounted[at]!
      mounted.at = at
      this.#starts.push(this.#lines.length)
      this.#painted.push(mounted)
      // Out of sight an old line, or an empty one, holds the place of the new one.
      for (const line of mounted.lines) this.#lines.push(line)
      for (let left = mounted.guess(this.#width); left > 0; left--) this.#lines.push('')
    }
    this.#full = this.#lines.length
    if (place && from <= place.mounted.at) this.#keep(place)
  }

  /** Scrolls so that what was in sight still is. */
  #keep({ mounted, into }: { mounted: Mounted; into: number }): void {
    const scroll = this.#scroll!
    if (this.#painted[mounted.at] !== mounted) return
    scroll.updateLayout(this.#full, scroll.viewportHeight, this.#parts.repaint)
    scroll.scrollTo(this.#starts[mounted.at]! + Math.min(into, Math.max(0, mounted.lines.length - 1)))
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
