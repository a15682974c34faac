import type { PromptRules } from '../../../core/turns/machine-prompts.ts'
import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { refused } from '../hub/act.ts'
import { sessionLink } from '../frame/page-address.ts'
import { call } from '../hub/page-connection.ts'
import { request } from '../hub/page-request.ts'

/** Whether the hub takes prompts, and the agents that a prompt may choose; undefined until the hub has answered. */
const rules = signal<PromptRules | undefined>(undefined)

/** Sends a prompt to a project: in the session that is shown, or in a new one. */
export function PromptForm({ session, project, isBusy }: { session?: string; project?: string; isBusy?: boolean }) {
  const [text, setText] = useState('')
  const [agent, setAgent] = useState('')
  const [isNew, setNew] = useState(false)
  const [isSending, setSending] = useState(false)
  useEffect(() => {
    if (rules.value) return
    call(request('GET /api/prompts')).then(
      (read) => (rules.value = read),
      () => {},
    )
  }, [])
  if (!rules.value) return null
  if (!rules.value.allowed)
    return (
      <p class="quiet">
        To send prompts from here, start the hub with <code>termaite serve --allow-prompts</code>.
      </p>
    )
  const send = () => {
    if (text.trim() === '' || isSending) return
    setSending(true)
    refused.value = ''
    const body = {
      text,
      ...(session === undefined ? { project } : { session }),
      ...(agent === '' ? {} : { agent }),
      ...(isNew || session === undefined ? { fresh: true } : {}),
    }
    call(request('POST /api/prompts'), body).then(
      ({ session: begun }) => {
        setText('')
        setSending(false)
        if (begun !== session) location.hash = sessionLink(begun)
      },
      (error: unknown) => {
        setSending(false)
        refused.value = error instanceof Error ? error.message : String(error)
      },
    )
  }
  return (
    <form
      class="prompt"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <textarea
        aria-label="Prompt"
        rows={2}
        placeholder={isBusy ? 'Next prompt; it waits until the running turn is over' : 'Prompt'}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
          event.preventDefault()
          send()
        }}
      />
      <p class="line">
        <select aria-label="Agent" value={agent} onInput={(event) => setAgent(event.currentTarget.value)}>
          <option value="">the next agent of the rotation</option>
          {rules.value.agents.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        {session === undefined ? null : (
          <label>
            <input type="checkbox" checked={isNew} onInput={(event) => setNew(event.currentTarget.checked)} /> in a new
            session
          </label>
        )}
        <button type="submit" disabled={isSending}>
          Send
        </button>
      </p>
    </form>
  )
}
