import type { ComponentChild } from 'preact'
import type { ListControl } from '../lists/list-window.ts'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { DiffPairs } from './diff-blocks.ts'
import { DiffDocument } from './diff-document.ts'
import { lineKinds } from './diff-line-bytes.ts'
import { pathOf } from './diff-file.ts'
import { DiffFiles, FileHead } from './diff-files.tsx'
import { DiffFind } from './diff-find.tsx'
import { LineText, kindClass } from './diff-line.tsx'
import { DiffRows, isOpenAtFirst } from './diff-rows.ts'
import { usePageKeys } from '../frame/page-keys.ts'
import { VirtualList } from '../lists/virtual-list.tsx'

/** The comments that are shown between the lines of a diff; the view itself does not know what they are. */
type DiffTalk = {
  /** The lines of the document that have something shown below them. */
  lines: ReadonlySet<number>
  /** Opens a form below a line. */
  begin(line: number): void
  show(line: number): ComponentChild
}

type DiffViewProps = {
  diff: DiffDocument
  /** A number that changes when more of the diff has been read. */
  version: number
  /** Remarks about files, by their paths. */
  notes?: ReadonlyMap<string, string>
  talk?: DiffTalk
  /** Whether the two sides are shown side by side. */
  isSplit?: boolean
  /** The file, and perhaps the line of the document, to start at. */
  start?: { path: string; line?: number }
  /** Called when the person goes to a file. */
  onFile?(path: string): void
  /** Called when the last row becomes visible. */
  onEnd?(): void
  /** Only the lines, without the list of files and the search. */
  isPlain?: boolean
}

const noLines: ReadonlySet<number> = new Set()

/** A diff of any size: its files, and their lines with the changed words marked. Only the visible part is drawn. */
export function DiffView(props: DiffViewProps) {
  const { diff, version, notes, talk, isSplit = false, isPlain = false } = props
  const [opened, setOpened] = useState<ReadonlyMap<number, boolean>>(new Map())
  const [words, setWords] = useState('')
  const [here, setHere] = useState(0)
  const pairs = useMemo(() => new DiffPairs(diff), [diff])
  const list = useRef<ListControl | undefined>(undefined)
  const current = useRef<number | undefined>(undefined)
  const isOpen = (file: number) => opened.get(file) ?? isOpenAtFirst(diff.files[file]!)
  const talks = talk?.lines ?? noLines
  const noteAt = (file: number) => notes?.get(pathOf(diff.files[file]!))
  const rows = useMemo(
    () => new DiffRows(diff, pairs, { isSplit, isOpen, hasNote: (file) => noteAt(file) !== undefined, talks }),
    [diff, version, isSplit, opened, talks, notes],
  )
  const rowsNow = useRef(rows)
  rowsNow.current = rows

  const toggle = (file: number) => setOpened(new Map(opened).set(file, !isOpen(file)))
  /** Calls `go` with the new rows once a file is open. */
  const withOpen = (file: number, go: () => void) => {
    if (isOpen(file)) return go()
    setOpened(new Map(opened).set(file, true))
    requestAnimationFrame(() => requestAnimationFrame(go))
  }
  const goToFile = (file: number) => {
    const entry = diff.files[file]
    if (!entry) return
    list.current?.focus(rows.rowOfFile(file))
    list.current?.begin(rows.rowOfFile(file))
    current.current = entry.first
    props.onFile?.(pathOf(entry))
  }
  const goToLine = (line: number) =>
    withOpen(rows.fileOfLine(line), () => {
      current.current = line
      const row = rowsNow.current.rowOfLine(line)
      if (row >= 0) list.current?.focus(row)
    })
  /** The line that keys apply to: the focused line, otherwise the first visible one. */
  const lineHere = () => {
    if (current.current !== undefined) return current.current
    const row = rows.count === 0 ? undefined : rows.at(list.current?.first() ?? 0)
    if (!row) return 0
    return 'line' in row ? row.line : row.type === 'pair' ? Math.max(row.left, row.right) : diff.files[row.file]!.first
  }
  const goToChange = (step: 1 | -1) => {
    const line = nextChange(diff, lineHere(), step)
    if (line === undefined) return
    const file = rows.fileOfLine(line)
    if (isOpen(file)) goToLine(line)
    else goToFile(file)
  }
  const fileHere = () => (current.current === undefined ? here : rows.fileOfLine(current.current))
  const moveRow = (step: 1 | -1) => {
    const line = lineHere()
    const from = Math.max(
      rows.rowOfLine(line),
      current.current === undefined ? 0 : rows.rowOfFile(rows.fileOfLine(line)),
    )
    // Tab goes to comments; the arrow keys only move between lines.
    let to = from + step
    while (to > 0 && to < rows.count && ['talk', 'note'].includes(rows.at(to).type)) to += step
    if (to >= 0 && to < rows.count) list.current?.focus(to)
  }
  usePageKeys({
    n: () => goToChange(1),
    p: () => goToChange(-1),
    ']': () => goToFile(Math.min(diff.files.length - 1, fileHere() + 1)),
    '[': () => goToFile(Math.max(0, fileHere() - 1)),
    o: () => toggle(fileHere()),
    c: talk && (() => isCode(diff, lineHere()) && talk.begin(lineHere())),
  })

  useEffect(() => {
    if (props.start === undefined) return
    const { path, line } = props.start
    const file = diff.files.findIndex((one) => pathOf(one) === path)
    if (line !== undefined && line >= 0) goToLine(line)
    else if (file >= 0) goToFile(file)
  }, [diff, props.start?.path, props.start?.line])

  const code = (line: number, sides: CodeProps['sides'], isBare = false) => (
    <CodeCells {...{ diff, pairs, line, sides, words, isBare }} begin={talk?.begin} />
  )
  const drawn = (row: number) => {
    const found = rows.at(row)
    switch (found.type) {
      case 'file':
        return <FileHead file={diff.files[found.file]!} isOpen={isOpen(found.file)} toggle={() => toggle(found.file)} />
      case 'note':
        return (
          <div role="cell" class="whole why">
            {noteAt(found.file)}
          </div>
        )
      case 'talk':
        return (
          <div role="cell" class="whole talk">
            {talk?.show(found.line)}
          </div>
        )
      case 'line':
        return <div class="unified">{code(found.line, ['old', 'new'])}</div>
      case 'pair':
        return isWhole(diff, found.left) && found.left === found.right ? (
          <div class="unified">{code(found.left, ['old', 'new'])}</div>
        ) : (
          <div class="pair">
            {code(found.left, ['old'], isBare(diff, found.left))}
            {code(found.right, ['new'], isBare(diff, found.right))}
          </div>
        )
    }
  }
  const lines = (
    <VirtualList
      label="Changed lines"
      as="table"
      scrolls="itself"
      class={`diff-lines ${isSplit ? 'split' : ''}`}
      count={rows.count}
      keyAt={(row) => keyOf(rows, row)}
      order={rows}
      estimate={20}
      control={list}
      onSight={(first, last) => {
        setHere(rows.fileAt(first))
        if (last === rows.count - 1) props.onEnd?.()
      }}
    >
      {drawn}
    </VirtualList>
  )
  const onFocus = (event: FocusEvent) => {
    const marked = (event.target as HTMLElement).closest<HTMLElement>('[data-line]')?.dataset.line
    if (marked !== undefined) current.current = Number(marked)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (!(event.target as HTMLElement).matches('[data-line]')) return
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key] as 1 | -1 | undefined
    const side = { ArrowLeft: 0, ArrowRight: 1 }[event.key]
    if ((step === undefined && side === undefined) || event.ctrlKey || event.metaKey || event.altKey) return
    if (step !== undefined) moveRow(step)
    // Left and right move between the two sides of a row.
    else
      (event.target as HTMLElement).closest('[role=row]')?.querySelectorAll<HTMLElement>('[data-focus]')[side!]?.focus()
    event.preventDefault()
    event.stopPropagation()
  }
  if (isPlain) return <div class="diff plain">{lines}</div>
  return (
    <div class="diff" onFocusIn={onFocus} onKeyDown={onKeyDown}>
      <DiffFiles diff={diff} here={here} version={version} go={goToFile} />
      <div class="diff-main">
        <DiffFind diff={diff} version={version} words={words} setWords={setWords} go={goToLine} here={lineHere} />
        {diff.cut === undefined ? null : <p class="why">{diff.cut}</p>}
        {lines}
      </div>
    </div>
  )
}

/** A diff that is available as text; with `isPlain`, only its lines, for use inside another view. */
export function TextDiff({ text, isPlain = true }: { text: string; isPlain?: boolean }) {
  const diff = useMemo(() => DiffDocument.of(text), [text])
  return <DiffView diff={diff} version={0} isPlain={isPlain} />
}

type CodeProps = {
  diff: DiffDocument
  pairs: DiffPairs
  line: number
  /** The sides whose line numbers are shown. */
  sides: readonly ('old' | 'new')[]
  words: string
  isBare: boolean
  begin: ((line: number) => void) | undefined
}

/** The numbers and the text of a line; a line of -1 is empty. */
function CodeCells({ diff, pairs, line, sides, words, isBare, begin }: CodeProps) {
  if (line < 0)
    return (
      <>
        <span role="cell" class="number none" />
        <span role="cell" class="code none" />
      </>
    )
  const kind = kindClass(diff.kind(line))
  const number = (side: 'old' | 'new') => {
    const shown = side === 'old' ? diff.oldNumber(line) : diff.newNumber(line)
    if (shown === 0) return null
    if (!begin) return shown
    return (
      <button
        type="button"
        tabIndex={-1}
        data-line={line}
        aria-label={`Comment on line ${shown}`}
        title="Comment on this line (c)"
        onClick={() => begin(line)}
      >
        {shown}
      </button>
    )
  }
  return (
    <>
      {sides.map((side) => (
        <span key={side} role="cell" class={`number ${side} ${kind}`}>
          {number(side)}
        </span>
      ))}
      <span role="cell" class={`code ${kind}`} tabIndex={-1} data-line={line} data-focus>
        <LineText {...{ diff, pairs, line, words, isBare }} />
      </span>
    </>
  )
}

/** Whether a line belongs to a file, so that it can have comments. */
const isCode = (diff: DiffDocument, line: number) =>
  diff.kind(line) === lineKinds.context || diff.kind(line) === lineKinds.added || diff.kind(line) === lineKinds.removed

/** Whether a line fills the whole row in both views: headers of hunks, and text outside them. */
const isWhole = (diff: DiffDocument, line: number) => line >= 0 && !isCode(diff, line)

const isBare = (diff: DiffDocument, line: number) =>
  line >= 0 && line + 1 < diff.lineCount && diff.kind(line + 1) === lineKinds.note

function keyOf(rows: DiffRows, row: number): string {
  const found = rows.at(row)
  if ('line' in found) return `${found.type} ${found.line}`
  return found.type === 'pair' ? `pair ${found.left} ${found.right}` : `${found.type} ${found.file}`
}

/** The first line of the next or the previous run of changed lines. */
function nextChange(diff: DiffDocument, from: number, step: 1 | -1): number | undefined {
  const isChange = (line: number) => diff.kind(line) === lineKinds.added || diff.kind(line) === lineKinds.removed
  for (let line = from + step; line >= 0 && line < diff.lineCount; line += step)
    if (isChange(line) && (line === 0 || !isChange(line - 1))) return line
  return undefined
}
