import { useEffect, useRef } from 'preact/hooks'
import { keysAreShown } from './list-keys.ts'

/** Single keys and their acts while a part of the page is shown; they do nothing while the person types. */
type PageKeys = Readonly<Record<string, (() => unknown) | undefined>>

export function usePageKeys(keys: PageKeys): void {
  const now = useRef(keys)
  now.current = keys
  useEffect(() => {
    const over = new AbortController()
    addEventListener(
      'keydown',
      (event) => {
        const { target } = event
        const isTyping = target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')
        if (event.ctrlKey || event.metaKey || event.altKey || isTyping || event.defaultPrevented || keysAreShown.value)
          return
        const run = now.current[event.key]
        if (!run) return
        run()
        event.preventDefault()
      },
      { signal: over.signal },
    )
    return () => over.abort()
  }, [])
}
