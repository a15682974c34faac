import { useEffect, useRef } from 'preact/hooks'

/** A finger on a row: where it began, how far it has moved, and whether it swipes the row or scrolls the page. */
type Swipe = { x: number; y: number; dx: number; state: 'undecided' | 'swiping' | 'scrolling' }

/** Until it has moved this far, the finger counts as neither swiping nor scrolling. */
const decisionPx = 12
/** How far a finger must move for the swipe to count: a part of the row's width, but at most this many pixels. */
const farEnough = { part: 0.35, mostPx: 140 }

export const swipeAt = (x: number, y: number): Swipe => ({ x, y, dx: 0, state: 'undecided' })

/** The swipe after the finger has moved. A finger that first moves up or down scrolls, wherever it moves afterwards. */
export function swipeTo(swipe: Swipe, x: number, y: number): Swipe {
  if (swipe.state === 'scrolling') return swipe
  const [dx, dy] = [x - swipe.x, y - swipe.y]
  if (swipe.state === 'swiping') return { ...swipe, dx }
  if (Math.max(Math.abs(dx), Math.abs(dy)) < decisionPx) return swipe
  return Math.abs(dx) > 2 * Math.abs(dy) ? { ...swipe, dx, state: 'swiping' } : { ...swipe, state: 'scrolling' }
}

/** The direction of a swipe that went far enough; undefined for any other. */
export function swipeEnd({ dx, state }: Swipe, width: number): 'left' | 'right' | undefined {
  const enough = Math.min(width * farEnough.part, farEnough.mostPx)
  return state !== 'swiping' || Math.abs(dx) < enough ? undefined : dx > 0 ? 'right' : 'left'
}

/** On these elements a finger moves a caret or opens a list. */
const ownGestures = 'input, textarea, select, .diff, .terminal'

type SwipeActs = Partial<Record<'left' | 'right', (() => void) | undefined>>

/** Lets a person swipe an element to the left and to the right. The element follows the finger and returns afterwards. */
export function useSwipe(acts: SwipeActs) {
  const ref = useRef<HTMLElement>(null)
  const known = useRef(acts)
  known.current = acts
  useEffect(() => {
    const element = ref.current!
    const over = new AbortController()
    let swipe: Swipe | undefined
    const show = (dx: number) => {
      const side = dx > 0 ? 'right' : 'left'
      const isOffered = dx !== 0 && known.current[side] !== undefined
      element.style.transform = isOffered ? `translateX(${dx}px)` : ''
      element.parentElement!.dataset.swipe = isOffered ? side : ''
    }
    const on = (type: string, listener: (event: PointerEvent) => void) =>
      element.addEventListener(type, listener as (event: Event) => void, { signal: over.signal })
    on('pointerdown', (event) => {
      const isOwn = event.target instanceof Element && event.target.closest(ownGestures)
      swipe = event.pointerType === 'mouse' || isOwn ? undefined : swipeAt(event.clientX, event.clientY)
    })
    on('pointermove', (event) => {
      if (!swipe) return
      swipe = swipeTo(swipe, event.clientX, event.clientY)
      if (swipe.state !== 'swiping') return
      element.setPointerCapture(event.pointerId)
      show(swipe.dx)
    })
    on('pointercancel', () => {
      swipe = undefined
      show(0)
    })
    on('pointerup', () => {
      const ended = swipe
      const side = ended && swipeEnd(ended, element.clientWidth)
      swipe = undefined
      show(0)
      if (ended?.state === 'swiping')
        // The finger may lift over a link or a button; that must not count as a click.
        element.addEventListener('click', (event) => event.preventDefault(), { once: true, capture: true })
      if (side) known.current[side]?.()
    })
    return () => over.abort()
  }, [])
  return ref
}
