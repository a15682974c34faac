import type { DiffPairs } from './diff-blocks.ts'
import type { DiffDocument } from './diff-document.ts'
import type { LineKind } from './diff-line-bytes.ts'
import { useState } from 'preact/hooks'
import { sizeWords } from '../../../base/text/size-words.ts'
import { lineKinds } from './diff-line-bytes.ts'
import { holds } from './diff-search.ts'
import { VisibleWords } from '../words/visible-words.tsx'

/** How many bytes of a line are drawn at first; each further request draws as many more. */
const firstBytes = 2_000
const moreBytes = 20_000

const marks: Readonly<Record<LineKind, readonly [sign: string, name: string]>> = {
  [lineKinds.other]: ['', ''],
  [lineKinds.hunk]: ['', ''],
  [lineKinds.context]: [' ', ''],
  [lineKinds.added]: ['+', 'added'],
  [lineKinds.removed]: ['−', 'removed'],
  [lineKinds.note]: ['', ''],
}

export const kindClass = (kind: LineKind) =>
  (Object.entries(lineKinds).find(([, value]) => value === kind)?.[0] ?? 'other') as keyof typeof lineKinds

type LineProps = { diff: DiffDocument; pairs: DiffPairs; line: number; words: string; isBare: boolean }

/**
 * The text of a line with its changed words marked. `words` are the search words; with `isBare`, it shows that the newline at the
 * end is missing.
 */
export function LineText({ diff, pairs, line, words, isBare }: LineProps) {
  const [most, setMost] = useState(firstBytes)
  const kind = diff.kind(line)
  const size = diff.size(line)
  const [sign, name] = marks[kind]
  const isChange = kind === lineKinds.added || kind === lineKinds.removed
  const parts = (isChange && size <= firstBytes ? pairs.words(line) : undefined) ?? [
    { text: diff.text(line, most), changed: false },
  ]
  return (
    <>
      {name === '' ? null : <span class="sr-only">{name}: </span>}
      {sign === '' ? null : (
        <span class="sign" aria-hidden="true">
          {sign}
        </span>
      )}
      {parts.map(({ text, changed }, at) =>
        changed ? (
          <b key={at}>
            <FoundWords text={text} words={words} />
          </b>
        ) : (
          <FoundWords key={at} text={text} words={words} />
        ),
      )}
      {size > most + 1 ? (
        <button type="button" class="more" onClick={() => setMost(most + moreBytes)}>
          … {sizeWords(size - most)} more in this line
        </button>
      ) : null}
      {isBare ? <span class="quiet"> (no newline at the end of the file)</span> : null}
    </>
  )
}

/** A text in which the search words are marked. */
function FoundWords({ text, words }: { text: string; words: string }) {
  if (words === '' || !holds(text, words)) return <VisibleWords text={text} />
  const where = words === words.toLowerCase() ? text.toLowerCase() : text
  // The case of a few letters, such as İ, changes their length: nothing inside such a line is marked.
  if (where.length !== text.length) return <VisibleWords text={text} />
  const parts = []
  let from = 0
  for (let at = where.indexOf(words); at >= 0; at = where.indexOf(words, from)) {
    parts.push(
      <VisibleWords text={text.slice(from, at)} />,
      <mark>{<VisibleWords text={text.slice(at, at + words.length)} />}</mark>,
    )
    from = at + words.length
  }
  parts.push(<VisibleWords text={text.slice(from)} />)
  return <>{parts}</>
}
