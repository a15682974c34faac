import type { DiffDocument } from './diff-document.ts'
import type { DiffFile } from './diff-file.ts'
import type { ListControl } from '../lists/list-window.ts'
import { useEffect, useRef } from 'preact/hooks'
import { pathOf } from './diff-file.ts'
import { largeFile } from './diff-rows.ts'
import { VirtualList } from '../lists/virtual-list.tsx'
import { VisibleWords } from '../words/visible-words.tsx'
import { count } from '../words/words.ts'

/** How many characters of a path are shown, from its end, which says more than its middle. */
const longestPath = 300

const shortPath = (path: string) =>
  path.length <= longestPath ? path : `${path.slice(0, longestPath / 3)} … ${path.slice(-longestPath / 2)}`

type FilesProps = { diff: DiffDocument; here: number; version: number; go(file: number): void }

/** The list of a diff's files, each a link to the file. */
export function DiffFiles({ diff, here, version, go }: FilesProps) {
  const list = useRef<ListControl | undefined>(undefined)
  const { files } = diff
  useEffect(() => list.current?.show(here), [here])
  if (files.length === 0) return null
  const sum = (of: (file: DiffFile) => number) => files.reduce((total, file) => total + of(file), 0)
  return (
    <div class="diff-files" role="navigation" aria-label="Changed files">
      <p class="quiet">
        {files.length === 1 ? 'One file' : `${count(files.length)} files`}{' '}
        <Counts file={{ added: sum((file) => file.added), removed: sum((file) => file.removed) }} />
      </p>
      <VirtualList
        label="Changed files"
        scrolls="itself"
        count={files.length}
        keyAt={String}
        order={version}
        estimate={32}
        control={list}
      >
        {(at) => (
          <button type="button" class="link" aria-current={at === here ? 'true' : undefined} onClick={() => go(at)}>
            <Path file={files[at]!} /> <Counts file={files[at]!} />
          </button>
        )}
      </VirtualList>
    </div>
  )
}

function Path({ file }: { file: DiffFile }) {
  const path = pathOf(file)
  return path === '' ? (
    <span>Words outside the diff</span>
  ) : (
    <bdi class="path">
      <VisibleWords text={shortPath(path)} />
    </bdi>
  )
}

function Counts({ file: { added, removed } }: { file: Pick<DiffFile, 'added' | 'removed'> }) {
  return (
    <span class="counts">
      {added === 0 ? null : <span class="plus">+{count(added)}</span>}{' '}
      {removed === 0 ? null : <span class="minus">−{count(removed)}</span>}
    </span>
  )
}

/** The heading of a file, with everything about the file that its lines do not show. */
export function FileHead({ file, isOpen, toggle }: { file: DiffFile; isOpen: boolean; toggle(): void }) {
  const lines = file.end - file.first
  return (
    <div role="cell" class="file-head">
      <button type="button" aria-expanded={isOpen} data-line={file.first} onClick={toggle}>
        <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span> <Path file={file} />
      </button>
      <Counts file={file} />
      <span class="quiet">{factsOf(file).join(' · ')}</span>
      {file.hidden === 0 ? null : (
        <span class="why">
          {file.hidden === 1
            ? 'An added line has a hidden character'
            : `Added lines have ${count(file.hidden)} hidden characters`}
        </span>
      )}
      {!isOpen && lines > largeFile ? <span class="quiet">{count(lines)} lines: closed because it is long</span> : null}
    </div>
  )
}

function factsOf(file: DiffFile): string[] {
  const { oldPath, newPath, oldMode, newMode, move, isBinary, isTorn, isCombined, hunks } = file
  const hasPath = oldPath !== undefined || newPath !== undefined
  const isNew = hasPath && oldPath === undefined
  const isGone = hasPath && newPath === undefined
  return [
    ...(isNew ? ['new file'] : []),
    ...(isGone ? ['removed'] : []),
    ...(oldPath !== undefined && newPath !== undefined && oldPath !== newPath
      ? [`${move === 'copied' ? 'copied' : 'renamed'} from ${shortPath(oldPath)}`]
      : []),
    ...(oldMode !== undefined && newMode !== undefined ? [`mode ${oldMode} → ${newMode}`] : []),
    ...(isBinary ? ['not text'] : []),
    ...(isCombined ? ['from a merge'] : []),
    ...(isTorn ? ['the diff is damaged here'] : []),
    ...(hasPath && hunks.length === 0 && !isBinary ? ['no changed lines'] : []),
  ]
}
