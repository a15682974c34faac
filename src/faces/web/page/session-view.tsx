import type { KeptMessage } from '../../../core/talk/conversations.ts'
import { useEffect, useState } from 'preact/hooks'
import { call } from './hub-connection.ts'
import { me } from './hub-state.ts'
import { moment } from './words.ts'

export const sessionLink = (id: string) => `#/conversations/${encodeURIComponent(id)}`

/** How often the page asks for new messages. */
const paceMs = 2_000

/** One conversation, read as in the chat: every message with its author; new ones appear by themselves. */
export function SessionView({ session }: { session: string }) {
  const [messages, setMessages] = useState<readonly KeptMessage[]>([])
  const [trouble, setTrouble] = useState('')
  useEffect(() => {
    let over = false
    const read = async () => {
      for (let known: KeptMessage[] = []; !over;) {
        try {
          const path = `/api/sessions/${encodeURIComponent(session)}/messages?after=${known.length}`
          const page = (await call('GET', path)) as { messages: KeptMessage[]; all: number }
          if (page.messages.length > 0) {
            known = [...known, ...page.messages]
            if (!over) setMessages(known)
          }
          setTrouble('')
          if (known.length < page.all) continue
        } catch (error) {
          setTrouble(error instanceof Error ? error.message : String(error))
        }
        await new Promise((resolve) => setTimeout(resolve, paceMs))
      }
    }
    void read()
    return () => {
      over = true
    }
  }, [session])
  return (
    <section aria-labelledby="session-title" class="session">
      {me.value?.role === 'guest' ? null : (
        <p>
          <a href="#/conversations">← All conversations</a>
        </p>
      )}
      <h1 id="session-title">Conversation</h1>
      {trouble === '' ? null : <p role="alert">{trouble}</p>}
      <ol class="messages">
        {messages.map(({ role, by, text, at }, index) => (
          <li key={index} class={role}>
            <p class="quiet">
              <strong>{role === 'user' ? 'You' : by}</strong>{' '}
              <time dateTime={new Date(at).toISOString()}>{moment(at)}</time>
            </p>
            <pre class="text">{text}</pre>
          </li>
        ))}
      </ol>
    </section>
  )
}
