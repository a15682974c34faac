import type { ComponentChild } from 'preact'
import { RowHeights } from './row-heights.ts'

/** How the owner of a list moves it. */
export type ListControl = {
  /** Brings a row into view with some room around it; does nothing if the row is already in view. */
  show(row: number): void
  /** Brings a row to the upper edge. */
  begin(row: number): void
  /** Brings a row into sight and puts the keyboard's focus on the element in it that is marked `data-focus`, else on the first that can have it. */
  focus(row: number): void
  /** The row at the upper edge. */
  first(): number
}

export type VirtualListProps = {
  label: string
  count: number
  /** Names a row for good, so that focus and measured heights follow it to another place. */
  keyAt(row: number): string
  children(row: number): ComponentChild
  /** The height of a row in pixels until it is measured, with the space below it. */
  estimate: number
  /** Changes when rows may have changed places, such as the array that they are made from. */
  order: unknown
  /** The list scrolls with the page, or within itself. */
  scrolls?: 'page' | 'itself'
  /** A list, or a table whose rows are made of elements with the role `cell`. */
  as?: 'list' | 'table'
  class?: string
  rowClass?: string
  control?: { current: ListControl | undefined }
  /** Called when other rows are the first and the last in sight. */
  onSight?(first: number, last: number): void
}

/** Pixels above and below the sight whose rows are drawn too. */
const margin = 600

/** No browser draws an element that is much higher: Firefox ends at 17.8 million pixels. Longer lists move below the scroll bar. */
const mostPixels = 8_000_000

/** Lists with more rows do not carry measured heights to the new places of the rows. */
const mostCarried = 50_000

/** The visible part of a list: which rows are drawn, the position of each, and which one has the focus. */
export class ListWindow implements ListControl {
  readonly #scrolls: 'page' | 'itself'
  readonly #redraw: () => void
  #element: HTMLElement | undefined
  #props!: VirtualListProps
  #heights = new RowHeights(0, 1)
  #sizes = new Map<string, number>()
  #order: unknown = this
  /** The distance of the upper edge of the sight from the beginning of the list, and the height of the sight. */
  #at = 0
  #sight = 900
  /** How far the rows of a list that is too high for a browser are moved up. */
  #shift = 0
  #lastScroll = 0
  #focused: { key: string; row: number } | undefined
  #wantsFocus: number | undefined
  /** The row that is to be in sight; what is drawn around it may turn out higher than estimated. */
  #goal: { row: number; place: 'near' | 'begin' } | undefined
  #frame = 0
  #over = new AbortController()
  readonly #sizeWatch: ResizeObserver

  constructor(scrolls: 'page' | 'itself', redraw: () => void) {
    this.#scrolls = scrolls
    this.#redraw = redraw
    this.#sizeWatch = new ResizeObserver((entries) => this.#measure(entries))
  }

  /** Takes what is to be shown; called with each drawing. */
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

  /** The row with the focus may have another place now. */
  #followFocus(): void {
    const { count, keyAt } = this.#props
    const was = this.#focused
    if (!was || (was.row < count && keyAt(was.row) === was.key)) return
    // Rows of a long list do not move far, and to look at all of them would take long.
    const reach = count <= mostCarried / 5 ? count : 2_000
    for (let row = Math.max(0, was.row - reach); row < Math.min(count, was.row + reach); row++)
      if (keyAt(row) === was.key) {
        this.#focused = { key: was.key, row }
        return
      }
    // The row is gone: the one that took its place gets the focus, so that the keyboard goes on from there.
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
        // Somebody else scrolled: the row that was to be in sight is no longer wanted.
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

  /** The height of the element that holds the rows. */
  get height(): number {
    return Math.min(mostPixels, this.#heights.total)
  }

  top(row: number): number {
    const top = this.#heights.top(row) - this.#shift
    // The focused row of a very long list may be far out of sight; its place must not make the list higher.
    return Math.min(Math.max(0, top), Math.max(0, this.height - this.#heights.of(row)))
  }

  first(): number {
    return this.#heights.rowAt(this.#at)
  }

  last(): number {
    return this.#heights.rowAt(this.#at + this.#sight - 1)
  }

  /** The rows to draw, in their order. */
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
      // A drag of the scroll bar goes to its part of the list; the wheel and keys move by the pixels that they say.
      const isFar = Math.abs(scroll - this.#lastScroll) > 3 * this.#sight
      if (isFar) this.#shift = Math.round((scroll / room) * beyond)
      // The bar is at its end and the list is not: the bar moves back, and the rows stay.
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
      // The element may still have the height of fewer rows; the drawing that follows makes it higher.
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
      // A row that is hidden with its whole view has no height to keep.
      if (size === 0 || row >= this.#heights.count) continue
      const grown = this.#heights.measure(row, size)
      this.#sizes.set(this.#props.keyAt(row), size)
      if (grown === 0) continue
      hasChanged = true
      if (row < first) above += grown
    }
    if (!hasChanged) return
    // The rows in view keep their position when rows above them turn out higher.
    if (above !== 0 && !this.#goal) this.#scrollTo(this.#at + above)
    this.#reachGoal()
    this.#look()
  }
}
