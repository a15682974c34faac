import type { ComponentChild } from 'preact'
import { RowHeights } from './row-heights.ts'

/** The functions with which the owner of a list scrolls it. */
export type ListControl = {
  /** Brings a row into view with some room around it; does nothing if the row is already in view. */
  show(row: number): void
  /** Scrolls a row to the upper edge. */
  begin(row: number): void
  /**
   * Scrolls a row into view and focuses the element in it that is marked `data-focus`, otherwise the first element that can be focused.
   */
  focus(row: number): void
  /** The row at the upper edge. */
  first(): number
}

export type VirtualListProps = {
  label: string
  count: number
  /** Identifies a row permanently, so that its focus and measured height follow it to another place. */
  keyAt(row: number): string
  children(row: number): ComponentChild
  /** The height of a row in pixels until it is measured, with the space below it. */
  estimate: number
  /** Changes when rows may have changed places, for example because the array behind them changed. */
  order: unknown
  /** The list scrolls with the page, or within itself. */
  scrolls?: 'page' | 'itself'
  /** A list, or a table whose rows are made of elements with the role `cell`. */
  as?: 'list' | 'table'
  class?: string
  rowClass?: string
  control?: { current: ListControl | undefined }
  /** Called when the first or the last visible row has changed. */
  onSight?(first: number, last: number): void
}

/** How many pixels above and below the visible part are drawn too. */
const margin = 600

/**
 * Browsers do not draw an element that is much higher: Firefox ends at 17.8 million pixels. In a higher list, the rows are shifted
 * against the scroll bar.
 */
const mostPixels = 8_000_000

/** In lists with more rows than this, measured heights do not follow the rows to new places. */
const mostCarried = 50_000

/** The visible part of a list: which rows are drawn, the position of each, and which one is focused. */
export class ListWindow implements ListControl {
  readonly #scrolls: 'page' | 'itself'
  readonly #redraw: () => void
  #element: HTMLElement | undefined
  #props!: VirtualListProps
  #heights = new RowHeights(0, 1)
  #sizes = new Map<string, number>()
  #order: unknown = this
  /** How far the visible part begins from the top of the list, and its height. */
  #at = 0
  #sight = 900
  /** How many pixels the rows are shifted upwards in a list that is too high for a browser. */
  #shift = 0
  #lastScroll = 0
  #focused: { key: string; row: number } | undefined
  #wantsFocus: number | undefined
  /** The row to scroll to; the rows around it may turn out higher than estimated. */
  #goal: { row: number; place: 'near' | 'begin' } | undefined
  #frame = 0
  #over = new AbortController()
  readonly #sizeWatch: ResizeObserver

  constructor(scrolls: 'page' | 'itself', redraw: () => void) {
    this.#scrolls = scrolls
    this.#redraw = redraw
    this.#sizeWatch = new ResizeObserver((entries) => this.#measure(entries))
  }

  /** Receives the present properties; called with each drawing. */
  hold(props: VirtualListProps): void {
    const { count, estimate, order, keyAt } = props
    this.#props = props
    if (order === this.#order && count === this.#heights.count) return
    this.#order = order
    this.#heights = new RowHeights(count, estimate)
    if (count <= mostCarried)
      for (let row = 0; row < count; row++) {
        const size = this.#sizes.get(keyAt(row))
        if (size !== undefined) this.#heights.measure(row, size)
      }
    else this.#sizes.clear()
    this.#followFocus()
  }

  /** The focused row may have moved to another place. */
  #followFocus(): void {
    const { count, keyAt } = this.#props
    const was = this.#focused
    if (!was || (was.row < count && keyAt(was.row) === was.key)) return
    // Rows of a long list do not move far, and searching all of them would take long.
    const reach = count <= mostCarried / 5 ? count : 2_000
    for (let row = Math.max(0, was.row - reach); row < Math.min(count, was.row + reach); row++)
      if (keyAt(row) === was.key) {
        this.#focused = { key: was.key, row }
        return
      }
    // If the row is gone, the row that took its place is focused, so that the keyboard continues from there.
    this.#focused = undefined
    if (count > 0 && this.#element?.contains(document.activeElement)) this.#wantsFocus = Math.min(was.row, count - 1)
  }

  attach(element: HTMLElement): void {
    this.#element = element
    this.#over = new AbortController()
    const { signal } = this.#over
    const scrolled = this.#scrolls === 'page' ? window : element
    scrolled.addEventListener(
      'scroll',
      () => {
        // If something else scrolled the list, the row to scroll to no longer counts.
        if (this.#scrollNow() !== this.#lastScroll) this.#goal = undefined
        this.#look()
      },
      { signal, passive: true },
    )
    addEventListener('resize', () => this.#look(), { signal })
    element.addEventListener(
      'focusin',
      ({ target }) => {
        const row = Number((target as HTMLElement).closest<HTMLElement>('[data-row]')?.dataset.row ?? Number.NaN)
        const isRow = row < this.#heights.count
        this.#focused = isRow ? { key: this.#props.keyAt(row), row } : undefined
        if (isRow) this.#redraw()
      },
      { signal },
    )
    element.addEventListener(
      'focusout',
      ({ relatedTarget }) => {
        if (relatedTarget instanceof Node && !element.contains(relatedTarget)) this.#focused = undefined
      },
      { signal },
    )
    // A list that scrolls within itself can get a new layout without a change of the window's size.
    this.#sizeWatch.observe(element)
    this.#look()
  }

  detach(): void {
    this.#over.abort()
    this.#sizeWatch.disconnect()
    cancelAnimationFrame(this.#frame)
  }

  watch(row: HTMLElement): void {
    this.#sizeWatch.observe(row)
  }

  unwatch(row: HTMLElement): void {
    this.#sizeWatch.unobserve(row)
  }

  /** The height of the element that contains the rows. */
  get height(): number {
    return Math.min(mostPixels, this.#heights.total)
  }

  top(row: number): number {
    const top = this.#heights.top(row) - this.#shift
    // The focused row of a very long list may be far outside the visible part; its position must not make the list higher.
    return Math.min(Math.max(0, top), Math.max(0, this.height - this.#heights.of(row)))
  }

  first(): number {
    return this.#heights.rowAt(this.#at)
  }

  last(): number {
    return this.#heights.rowAt(this.#at + this.#sight - 1)
  }

  /** The rows to draw, in order. */
  drawn(): number[] {
    const { count } = this.#heights
    if (count === 0) return []
    const first = this.#heights.rowAt(this.#at - margin)
    const last = this.#heights.rowAt(this.#at + this.#sight + margin)
    const rows = Array.from({ length: last - first + 1 }, (_, at) => first + at)
    const { row } = this.#focused ?? {}
    const near = row === undefined ? [] : [row - 1, row, row + 1]
    const wanted = [...near, ...(this.#wantsFocus === undefined ? [] : [this.#wantsFocus])]
    const others = wanted.filter((at) => at >= 0 && at < count && (at < first || at > last))
    return others.length === 0 ? rows : [...new Set([...rows, ...others])].toSorted((a, b) => a - b)
  }

  show(row: number): void {
    this.#goal = { row, place: 'near' }
    this.#reachGoal()
  }

  begin(row: number): void {
    this.#goal = { row, place: 'begin' }
    this.#reachGoal()
  }

  focus(row: number): void {
    if (row < 0 || row >= this.#heights.count) return
    this.#wantsFocus = row
    this.show(row)
    this.#redraw()
  }

  /** Called after each drawing. */
  settle(): void {
    const row = this.#wantsFocus
    const drawn = row === undefined ? null : this.#element?.querySelector<HTMLElement>(`[data-row="${row}"]`)
    if (drawn) {
      this.#wantsFocus = undefined
      const target =
        drawn.querySelector<HTMLElement>('[data-focus]') ??
        drawn.querySelector<HTMLElement>('[tabindex], a[href], button, input, textarea')
      target?.focus({ preventScroll: true })
    }
  }

  #look(): void {
    if (!this.#element) return
    this.#read()
    if (this.#frame === 0)
      this.#frame = requestAnimationFrame(() => {
        this.#frame = 0
        this.#redraw()
      })
  }

  #scrollNow(): number {
    return this.#scrolls === 'page' ? scrollY : this.#element!.scrollTop
  }

  /** Reads the scroll position of the list. */
  #read(): void {
    const element = this.#element!
    if (this.#scrolls === 'page') {
      this.#lastScroll = scrollY
      this.#at = -element.getBoundingClientRect().top
      this.#sight = innerHeight
      return
    }
    this.#sight = element.clientHeight
    const scroll = element.scrollTop
    const beyond = this.#heights.total - this.height
    if (beyond > 0) {
      const room = Math.max(1, this.height - this.#sight)
      // Dragging the scroll bar jumps to a part of the list; the wheel and keys move by their exact number of pixels.
      const isFar = Math.abs(scroll - this.#lastScroll) > 3 * this.#sight
      if (isFar) this.#shift = Math.round((scroll / room) * beyond)
      // If the scroll bar is at its end but the list is not, the bar moves back and the rows stay.
      else if ((scroll <= 0 && this.#shift > 1) || (scroll >= room - 1 && this.#shift < beyond - 1)) {
        this.#at = scroll + this.#shift
        this.#shift = Math.round((this.#at / (room + beyond)) * beyond)
        element.scrollTop = this.#at - this.#shift
        this.#lastScroll = element.scrollTop
        return
      }
    } else this.#shift = 0
    this.#lastScroll = scroll
    this.#at = scroll + this.#shift
  }

  #scrollTo(at: number): void {
    const element = this.#element
    if (!element) return
    if (this.#scrolls === 'page') {
      scrollBy({ top: at - this.#at, behavior: 'instant' })
    } else {
      const beyond = this.#heights.total - this.height
      const part = beyond > 0 ? at / Math.max(1, this.#heights.total - this.#sight) : 0
      this.#shift = Math.round(Math.min(1, Math.max(0, part)) * Math.max(0, beyond))
      // The element may still have the height for fewer rows; the next drawing makes it higher.
      element.scrollTop = at - this.#shift
      this.#lastScroll = element.scrollTop
    }
    this.#read()
  }

  #reachGoal(): void {
    if (!this.#goal || !this.#element) return
    const { row, place } = this.#goal
    this.#read()
    const top = this.#heights.top(row)
    const bottom = top + this.#heights.of(row)
    const isInSight = top >= this.#at && bottom <= this.#at + this.#sight
    if (place === 'near' && isInSight) return
    this.#scrollTo(place === 'begin' ? top : top - Math.max(0, (this.#sight - (bottom - top)) / 3))
    this.#redraw()
  }

  #measure(entries: readonly ResizeObserverEntry[]): void {
    let above = 0
    let hasChanged = false
    const first = this.first()
    for (const { target, borderBoxSize } of entries) {
      const { row: written } = (target as HTMLElement).dataset
      if (written === undefined) {
        hasChanged = true
        continue
      }
      const row = Number(written)
      const size = borderBoxSize[0]?.blockSize ?? 0
      // A row that is hidden together with its view has no height to record.
      if (size === 0 || row >= this.#heights.count) continue
      const grown = this.#heights.measure(row, size)
      this.#sizes.set(this.#props.keyAt(row), size)
      if (grown === 0) continue
      hasChanged = true
      if (row < first) above += grown
    }
    if (!hasChanged) return
    // If rows above turn out higher than estimated, the visible rows keep their position.
    if (above !== 0 && !this.#goal) this.#scrollTo(this.#at + above)
    this.#reachGoal()
    this.#look()
  }
}
