/** Marks an element that j and k move to, Enter opens, and keys act on. */
export const rowClass = 'row'

/** Moves through the rows of a view by the keyboard: j and k, Enter by the browser itself, and / for the search. */
export function handleKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
  if (event.key === 'j') move(1)
  else if (event.key === 'k') move(-1)
  else if (event.key === '/') document.querySelector<HTMLInputElement>('input[type=search]')?.focus()
  else {
    const row = document.activeElement?.closest(`.${rowClass}`)
    const button = row?.querySelector<HTMLButtonElement>(`button[data-key="${CSS.escape(event.key)}"]`)
    if (!button) return
    button.click()
  }
  event.preventDefault()
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')
}

function move(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>(`.${rowClass}`)]
  const at = rows.findIndex((row) => row.contains(document.activeElement))
  const next = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + step))]
  const target = next?.matches('a, button') ? next : next?.querySelector<HTMLElement>('a, button')
  target?.focus()
}
