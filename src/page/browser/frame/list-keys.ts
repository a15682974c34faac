import { signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { undoLast } from '../hub/act.ts'

/** Marks an element that j and k move to, that Enter opens, and that keys act on. */
export const rowClass = 'row'

/** Whether the list of all keys is open. */
export const keysAreShown = signal(false)

/** A view that g followed by its key opens. */
export type KeyedView = { name: string; title: string; key: string }

/** The second key of a pair must follow the first within this time. */
const pairMs = 1_500
let began = -Infinity

/**
 * Handles the keyboard in a view: j and k move through the rows, Enter is left to the browser, / opens the search, u undoes the last act,
 * g and a letter open another view, ? shows the list of all keys. Every other key presses the button of the row that has this key.
 */
export function handleKey(event: KeyboardEvent, views: readonly KeyedView[]): void {
  const { key, target } = event
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(target) || keysAreShown.value) return
  const goes = event.timeStamp - began < pairMs ? views.find((view) => view.key === key)?.name : undefined
  began = key === 'g' ? event.timeStamp : -Infinity
  if (goes !== undefined) location.hash = `#/${goes}`
  else if (key === 'j') move(1)
  else if (key === 'k') move(-1)
  else if (key === 'u') undoLast()
  else if (key === '?') keysAreShown.value = true
  else if (key === '/') document.querySelector<HTMLInputElement>('main input[type=search]')?.focus()
  else if (!pressButton(key)) return
  event.preventDefault()
}

/** Presses the button with this key in the focused row, otherwise the one of the whole view. */
function pressButton(key: string): boolean {
  const row = document.activeElement?.closest(`.${rowClass}`)
  const name = CSS.escape(key)
  const selector = `button:is([data-key="${name}"], [data-also="${name}"]):not(:disabled)`
  const button =
    row?.querySelector<HTMLButtonElement>(selector) ??
    document.querySelector<HTMLButtonElement>(`main .view-keys ${selector}`)
  button?.click()
  return button !== undefined && button !== null
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.matches('input:not([type=checkbox]), textarea, select, [contenteditable]')
  )
}

function move(step: 1 | -1): void {
  // A row that only informs, such as a question that somebody has answered, cannot be focused.
  const rows = [...document.querySelectorAll<HTMLElement>(`.${rowClass}`)].filter(targetIn)
  const at = rows.findIndex((row) => row.contains(document.activeElement))
  const next = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + step))]
  if (next) targetIn(next)?.focus()
}

const targetIn = (row: HTMLElement) => (row.matches('a, button') ? row : row.querySelector<HTMLElement>('a, button'))

/** Focuses an element when it appears. */
export function useFocus<E extends HTMLElement>() {
  const ref = useRef<E>(null)
  useLayoutEffect(() => ref.current?.focus(), [])
  return ref
}
