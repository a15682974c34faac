import type { TerminalRow } from '../../../core/screen/machine-terminals.ts'
import type { HubFrame } from '../../terminal-frames.ts'
import type { Channel } from './terminal-connection.ts'
import type { TerminalScreen } from './terminal-screen.ts'
import { useEffect, useRef, useState } from 'preact/hooks'
import { rowClass } from '../frame/list-keys.ts'
import { openChannel } from './terminal-connection.ts'
import { VisibleWords } from '../words/visible-words.tsx'

/** The state of a terminal on the page, compared with the terminal on its machine. */
type State = 'opening' | 'live' | 'behind' | 'ended' | 'missing' | 'lost'

type Holder = { name?: string; yours: boolean }

const nobody: Holder = { yours: false }
const longestTitle = 120

/** The key in this browser's storage that records that the person uses a screen reader. */
const readsName = 'termaite-reads-terminals'

/** The code is in a separate file, which is loaded with the first terminal. */
const screenCode = () => import('./terminal-screen.ts')

/** One terminal: its program's output, who has its keyboard, and its state. */
export function TerminalPanel({ row, isAlone }: { row: TerminalRow; isAlone: boolean }) {
  const place = useRef<HTMLDivElement>(null)
  const take = useRef<HTMLButtonElement>(null)
  const parts = useRef<{ screen: TerminalScreen; channel: Channel } | undefined>(undefined)
  /** Whether the person has just left the terminal, so that focus moves to its button. */
  const leaves = useRef(false)
  const [state, setState] = useState<State>('opening')
  const [holder, setHolder] = useState(nobody)
  const [said, setSaid] = useState('')
  const [title, setTitle] = useState('')
  const [size, setSize] = useState('')
  const [link, setLink] = useState('')
  const [reads, setReads] = useState(localStorage.getItem(readsName) !== null)
  const label = `Terminal of ${row.name}`

  const giveKeys = () => {
    leaves.current = true
    parts.current?.channel.send({ type: 'give' })
  }
  useEffect(() => {
    if (holder.yours || !leaves.current) return
    leaves.current = false
    take.current?.focus()
  }, [holder.yours])

  useEffect(() => {
    let left = false
    let close = () => {}
    const open = async () => {
      const { TerminalScreen: Screen, rowsAbove } = await screenCode()
      if (left) return
      let generation = 0
      let drawn = 0
      const wires = {
        typed: (text: string) => channel.send({ type: 'keys', text }),
        leave: giveKeys,
        link: setLink,
        titled: (text: string) => setTitle(text.slice(0, longestTitle)),
      }
      const screen = new Screen(place.current!, label, isAlone, wires)
      screen.reads = localStorage.getItem(readsName) !== null
      const told = (frame: HubFrame) => {
        if (frame.type === 'behind' || frame.type === 'missing') setState(frame.type)
        else if (frame.type === 'refused') setSaid(frame.why)
        else if (frame.type === 'holder') {
          screen.holds = frame.yours
          setHolder(frame)
        } else if (frame.type === 'ended') {
          setState('ended')
          setSaid(endWords(frame))
        }
      }
      const lose = () => {
        // Keys that are typed now would be lost, and they are not queued for later.
        screen.holds = false
        setHolder(nobody)
      }
      const channel = openChannel(row.id, rowsAbove, {
        begin() {
          generation++
          drawn = 0
          lose()
        },
        draw(frame) {
          const own = generation
          const done = () => {
            if (own !== generation || left) return
            drawn += frame.bytes.length
            channel.send({ type: 'seen', bytes: drawn })
          }
          if (frame.type === 'output') return screen.draw(frame.bytes, done)
          screen.picture(frame.cols, frame.rows, frame.bytes, done)
          setState('live')
          setSaid('')
          setSize(`${frame.cols}×${frame.rows}`)
        },
        tell: told,
        lost() {
          lose()
          setState('lost')
        },
      })
      parts.current = { screen, channel }
      close = () => {
        channel.close()
        screen.dispose()
      }
    }
    open().catch(() => setSaid('The code of the terminal could not be read. Reload the page.'))
    return () => {
      left = true
      close()
    }
  }, [row.id])

  const type = (text: string) => parts.current?.channel.send({ type: 'keys', text })
  const takeKeys = () => {
    setSaid('')
    parts.current?.channel.send({ type: 'take' })
    parts.current?.screen.focus()
  }
  const readAloud = () => {
    if (reads) localStorage.removeItem(readsName)
    else localStorage.setItem(readsName, 'yes')
    setReads(!reads)
    if (parts.current) parts.current.screen.reads = !reads
  }
  const paste = (event: ClipboardEvent) => {
    const text = event.clipboardData?.getData('text/plain') ?? ''
    event.preventDefault()
    event.stopPropagation()
    if (holder.yours && text !== '') parts.current?.channel.send({ type: 'paste', text })
  }
  const canType = row.keys && !row.onlyReading && (state === 'live' || state === 'behind')
  return (
    <article class={`terminal ${rowClass} ${holder.yours ? 'held' : ''}`} aria-label={label}>
      <h2>
        <a href={`#/terminals/${encodeURIComponent(row.id)}`}>{row.name}</a>
        <span class="badge">{row.agent}</span>
        <span class="state">{row.state}</span>
      </h2>
      <p class="quiet">
        {row.project} · {row.machine}
        {size === '' ? '' : ` · ${size}`}
        {title === '' ? null : (
          <>
            {' · '}
            <VisibleWords text={title} />
          </>
        )}
      </p>
      <p class="buttons">
        {holder.yours ? (
          <button class="good" onClick={giveKeys}>
            Give the keys back <kbd>Ctrl+]</kbd>
          </button>
        ) : (
          <button ref={take} data-key="t" disabled={!canType} onClick={takeKeys}>
            <kbd>t</kbd> {holder.name === undefined ? 'Take the keys' : 'Take the keys over'}
          </button>
        )}
        <button aria-pressed={reads} onClick={readAloud}>
          Text for screen readers
        </button>
        <span class="quiet" role="status">
          {stateWords(state, holder, row.onlyReading ? row.machine : undefined)}
        </span>
      </p>
      {said === '' ? null : <p role="alert">{said}</p>}
      {link === '' ? null : <LinkCard link={link} close={() => setLink('')} />}
      <div class="terminal-place" ref={place} onPasteCapture={paste} />
      {holder.yours ? <KeyRow type={type} parts={parts} /> : null}
    </article>
  )
}

/** `closed` is the machine of a terminal that accepts no typing from elsewhere. */
function stateWords(state: State, { name, yours }: Holder, closed?: string): string {
  if (state === 'opening') return 'Opening …'
  if (state === 'lost') return 'The connection is lost. The picture may be old; the page reconnects by itself.'
  if (state === 'missing')
    return 'There is no such terminal now, or its machine is offline. It appears here as soon as possible.'
  if (state === 'ended') return 'The program has exited. This is its last output.'
  const behind = state === 'behind' ? 'The program prints faster than this page can draw; a new picture follows. ' : ''
  if (yours) return `${behind}You have the keys. Ctrl+] or Shift+Esc gives them back and leaves the terminal.`
  if (name !== undefined) return `${behind}${name} has the keys in another window. You can read.`
  if (closed !== undefined) return `${behind}Read-only: ${closed} lets nobody type from elsewhere.`
  return `${behind}Read-only: nobody has the keys on this page.`
}

function endWords({ code, signal }: { code?: number; signal?: number }): string {
  if (signal !== undefined) return `The program was killed by signal ${signal}.`
  return code === undefined ? 'The program has exited.' : `The program has exited with exit code ${code}.`
}

/** The address of a link that a program printed; the person reads it before opening it. */
function LinkCard({ link, close }: { link: string; close(): void }) {
  const url = URL.parse(link)
  // xterm only passes web addresses on; a script as an address would run in the page.
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return null
  return (
    <p class="terminal-link" role="alert">
      The program’s link leads to <VisibleWords text={url.href} />{' '}
      <a href={url.href} target="_blank" rel="noopener noreferrer" onClick={close}>
        Open it in a new window
      </a>{' '}
      <button onClick={close}>Close</button>
    </p>
  )
}

const keyRow = [
  ['Escape', 'Esc'],
  ['Tab', 'Tab'],
  ['Left', '←'],
  ['Up', '↑'],
  ['Down', '↓'],
  ['Right', '→'],
  ['Enter', 'Enter'],
] as const

const keyNames: Readonly<Record<string, string>> = { '←': 'Left', '↑': 'Up', '↓': 'Down', '→': 'Right' }

/** Keys that a phone's keyboard lacks. Touching them does not move the focus, so the phone's keyboard stays open. */
function KeyRow({
  type,
  parts,
}: {
  type(text: string): void
  parts: { current: { screen: TerminalScreen } | undefined }
}) {
  const stay = (event: Event) => event.preventDefault()
  return (
    <p class="key-row" role="toolbar" aria-label="Keys">
      <button onPointerDown={stay} onClick={() => parts.current?.screen.control()}>
        Ctrl
      </button>
      {keyRow.map(([key, words]) => (
        <button
          key={key}
          aria-label={keyNames[words] ?? words}
          onPointerDown={stay}
          onClick={() => {
            const { screen } = parts.current ?? {}
            if (screen) type(screen.bytesOf(key))
          }}
        >
          {words}
        </button>
      ))}
    </p>
  )
}
