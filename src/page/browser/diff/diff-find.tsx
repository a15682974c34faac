import type { DiffDocument } from './diff-document.ts'
import type { Found } from './diff-search.ts'
import { useEffect, useState } from 'preact/hooks'
import { mostFound, searchDiff } from './diff-search.ts'
import { count } from '../words/words.ts'

type FindProps = {
  diff: DiffDocument
  version: number
  words: string
  setWords(words: string): void
  go(line: number): void
  /** The line from which the search for the next match starts. */
  here(): number
}

/** The search in a diff. Enter goes to the next match, Shift+Enter to the previous one. */
export function DiffFind({ diff, version, words, setWords, go, here }: FindProps) {
  const [found, setFound] = useState<Found>({ lines: [], isOver: true })
  useEffect(() => {
    const over = new AbortController()
    setFound({ lines: [], isOver: words === '' })
    if (words !== '') void searchDiff(diff, words, over.signal, (now) => over.signal.aborted || setFound(now))
    return () => over.abort()
  }, [diff, version, words])
  const next = (step: 1 | -1) => {
    const { lines } = found
    const from = here()
    const at = step > 0 ? lines.find((line) => line > from) : lines.findLast((line) => line < from)
    const line = at ?? (step > 0 ? lines[0] : lines.at(-1))
    if (line !== undefined) go(line)
  }
  const { lines, isOver } = found
  return (
    <form
      class="find line"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        next(1)
      }}
    >
      <input
        type="search"
        aria-label="Find in the changes"
        placeholder="Find in the changes ( / )"
        value={words}
        onInput={(event) => setWords(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !event.shiftKey) return
          event.preventDefault()
          next(-1)
        }}
      />
      <button type="button" aria-label="Previous place" disabled={lines.length === 0} onClick={() => next(-1)}>
        ↑
      </button>
      <button type="button" aria-label="Next place" disabled={lines.length === 0} onClick={() => next(1)}>
        ↓
      </button>
      <span class="quiet" role="status">
        {words === ''
          ? ''
          : lines.length === 0
            ? isOver
              ? 'Not found.'
              : 'Looking …'
            : `${lines.length >= mostFound ? 'more than ' : ''}${count(lines.length)} ${lines.length === 1 ? 'line' : 'lines'}${isOver ? '' : ' so far'}`}
      </span>
    </form>
  )
}
