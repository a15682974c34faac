import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useFocus } from './list-keys.ts'

type LineFormProps = {
  label: string
  placeholder: string
  button: string
  /** Called with the text, trimmed; `clear` empties the line. */
  send(words: string, clear: () => void): void
  /** Whether an empty line can be sent. */
  mayBeEmpty?: boolean
  /** Whether the line gets the keyboard's focus when it appears. */
  focus?: boolean
  /** Called when the person presses Escape. */
  close?(): void
  /** Further buttons. */
  children?: ComponentChildren
}

/** A line of text with a button that sends it. */
export function LineForm(props: LineFormProps) {
  const { label, placeholder, button, send, mayBeEmpty = false, focus = false, close, children } = props
  const [words, setWords] = useState('')
  const field = useFocus<HTMLInputElement>()
  const text = words.trim()
  const isReady = mayBeEmpty || text !== ''
  return (
    <form
      class="line"
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady) send(text, () => setWords(''))
      }}
      onKeyDown={(event) => event.key === 'Escape' && close?.()}
    >
      <input
        ref={focus ? field : null}
        aria-label={label}
        placeholder={placeholder}
        value={words}
        onInput={(event) => setWords(event.currentTarget.value)}
      />
      <button type="submit" disabled={!isReady}>
        {button}
      </button>
      {children}
    </form>
  )
}
