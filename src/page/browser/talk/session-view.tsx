import type { PlacedEntry } from '../../../core/turns/conversations.ts'
import type { QuestionBlock } from '../../../chat/transcript/block.ts'
import type { NamedBlock } from './session-blocks.ts'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { act } from '../hub/act.ts'
import { request } from '../hub/page-request.ts'
import { BlockView } from './block-view.tsx'
import { me, turns } from '../hub/page-state.ts'
import { rowClass } from '../frame/list-keys.ts'
import { PromptForm } from './prompt-form.tsx'
import { QuestionForm } from '../inbox/question-form.tsx'
import { Refused } from '../frame/refused.tsx'
import { SessionReader } from './session-reader.ts'
import { conversationBlocks } from './session-blocks.ts'
import { TurnActs } from './turns-view.tsx'
import { firstLine, moment } from '../words/words.ts'

/** Within this distance from the end, the view stays at the end while the conversation grows. */
const nearPixels = 120

/** One conversation, shown as in the chat: it opens at its end, or at the entry that the address names, and grows live. */
export function SessionView({ session, at }: { session: string; at?: string }) {
  const reader = useMemo(() => new SessionReader(session, at), [session, at])
  useEffect(() => () => reader.close(), [reader])
  const entries = reader.entries.value
  const live = reader.live.value
  const blocks = useMemo(() => conversationBlocks(entries ?? [], live.values()), [entries, live])
  const list = useRef<HTMLOListElement>(null)
  const scroll = useScrollPlace(list, blocks, at)
  const running = [...turns.value.values()].filter((row) => row.session === session)
  const isGuest = me.value?.role === 'guest'
  const questionForm = ({ ask, turn }: QuestionBlock) => {
    const asked = running.find((row) => row.turn === turn)?.asks.find((one) => one.ask === ask)
    if (!asked) return undefined
    return (
      <QuestionForm
        asked={asked.question}
        answer={(picks) => act(request('POST /api/turns/:id/answer', { id: turn }), { ask, picks })}
      />
    )
  }
  const target = at === undefined ? undefined : blockOf(at, entries ?? [])
  return (
    <section aria-labelledby="session-title" class="session">
      {isGuest ? null : (
        <p>
          <a href="#/conversations">← All conversations</a>
        </p>
      )}
      <h1 id="session-title">{firstLine(reader.title.value).slice(0, 200) || 'Conversation'}</h1>
      <p class="quiet">
        {reader.project.value}
        {me.value?.ends === undefined ? '' : `This link expires ${moment(me.value.ends)}.`}
      </p>
      {reader.trouble.value === '' ? null : <p role="alert">{reader.trouble.value}</p>}
      <Refused />
      {reader.hasOlder.value ? <More words="Show older messages" read={() => reader.older(scroll.hold)} /> : null}
      {entries === undefined ? <p class="quiet">Reading …</p> : null}
      <ol class="messages" ref={list}>
        {blocks.map(({ name, block }) => (
          <li
            key={name}
            data-name={name}
            class={`${rowClass} ${block.type}${name === target ? ' target' : ''}${'failed' in block ? ' quiet' : ''}`}
            tabindex={block.type === 'prompt' ? -1 : undefined}
          >
            <BlockView block={block} acts={{ questionForm }} />
          </li>
        ))}
      </ol>
      {[...live.values()].map(({ turn, by, waiting, phase, inside, over }) => (
        <div key={turn} class="now" role="status">
          <p class="quiet">
            {over
              ? 'The process of this turn sends no more live text. Everything that it stores appears here.'
              : [by === undefined ? 'The turn runs' : `${by} is at work`, phase, waiting].filter(Boolean).join(' · ')}
          </p>
          {inside.length === 0 ? null : (
            <ul>
              {inside.map(({ role, by: agent, words }) => (
                <li key={role}>
                  {role}
                  {agent === undefined ? '' : ` (${agent})`}: <span class="quiet">{words}</span>
                </li>
              ))}
            </ul>
          )}
        </div>
      ))}
      {reader.hasNewer.value ? <More words="Show newer messages" read={() => reader.newer(scroll.hold)} /> : null}
      <div class="composer">
        {scroll.isAtEnd ? null : (
          <button
            type="button"
            onClick={() => {
              if (reader.hasNewer.value) void reader.toEnd()
              scroll.toEnd()
            }}
          >
            Go to the end
          </button>
        )}
        {isGuest ? null : running.map((row) => <TurnActs key={row.turn} row={row} />)}
        {isGuest ? null : running.length === 0 ? (
          <PromptForm session={session} />
        ) : (
          <details>
            <summary class="quiet">Next prompt</summary>
            <PromptForm session={session} isBusy />
          </details>
        )}
      </div>
    </section>
  )
}

/** The name of the block that shows an entry: the result of a call is part of the call's block. */
function blockOf(id: string, entries: readonly PlacedEntry[]): string {
  const found = entries.find(({ entry }) => entry.id === id)?.entry
  if (found?.type !== 'result') return id
  return entries.findLast(({ entry }) => entry.type === 'call' && entry.call === found.call)?.entry.id ?? id
}

/** A button that loads more, when it is pressed or as soon as it is visible. */
function More({ words, read }: { words: string; read(): void }) {
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    const look = (found: readonly IntersectionObserverEntry[]) => {
      if (found.some((one) => one.isIntersecting)) read()
    }
    const seen = new IntersectionObserver(look, { rootMargin: '400px' })
    if (button.current) seen.observe(button.current)
    return () => seen.disconnect()
  })
  return (
    <button type="button" ref={button} onClick={read}>
      {words}
    </button>
  )
}

/**
 * Keeps the person's place: at the end while the conversation grows there, and at the same message while older ones are inserted above
 * it. `hold` remembers the message before a page is added.
 */
function useScrollPlace(
  list: { current: HTMLOListElement | null },
  blocks: readonly NamedBlock[],
  at: string | undefined,
) {
  const [isAtEnd, setAtEnd] = useState(at === undefined)
  const pinned = useRef(at === undefined)
  const held = useRef<{ name: string; top: number } | undefined>(undefined)
  /** The entry that the address names; it is kept visible until the person scrolls. */
  const aimed = useRef<Element | undefined>(undefined)
  const found = useRef(false)
  const toEnd = () => {
    pinned.current = true
    setAtEnd(true)
    scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' })
  }
  useEffect(() => {
    const look = () => {
      const left = document.documentElement.scrollHeight - innerHeight - scrollY
      pinned.current = left < nearPixels
      setAtEnd(pinned.current)
    }
    // Blocks far from the visible part are only measured when they come near, and that moves the end of the conversation.
    const sized = new ResizeObserver(() => {
      if (aimed.current) aimed.current.scrollIntoView({ block: 'center', behavior: 'instant' })
      else if (pinned.current) scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' })
    })
    const moved = () => (aimed.current = undefined)
    const moves = ['wheel', 'touchmove', 'keydown', 'pointerdown']
    for (const move of moves) addEventListener(move, moved, { passive: true })
    addEventListener('scroll', look, { passive: true })
    if (list.current) sized.observe(list.current)
    return () => {
      for (const move of moves) removeEventListener(move, moved)
      removeEventListener('scroll', look)
      sized.disconnect()
    }
  }, [])
  useLayoutEffect(() => {
    const element = (name: string) => list.current?.querySelector(`[data-name="${CSS.escape(name)}"]`)
    const target = at !== undefined && !found.current ? list.current?.querySelector('.target') : undefined
    if (target) {
      found.current = true
      aimed.current = target
      // The search words may be in a folded call.
      target.querySelector('details')?.setAttribute('open', '')
      target.scrollIntoView({ block: 'center', behavior: 'instant' })
    } else if (held.current) {
      const { name, top } = held.current
      held.current = undefined
      const now = element(name)?.getBoundingClientRect().top
      if (now !== undefined) scrollBy({ top: now - top, behavior: 'instant' })
    } else if (pinned.current) scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' })
  }, [blocks])
  const hold = () => {
    const first = [...(list.current?.children ?? [])].find((item) => item.getBoundingClientRect().bottom > 0)
    const name = first?.getAttribute('data-name')
    if (name) held.current = { name, top: first!.getBoundingClientRect().top }
  }
  return { isAtEnd, toEnd, hold }
}
