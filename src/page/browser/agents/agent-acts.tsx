import type { Task } from '../../../hub/model/tasks/task.ts'
import type { HubRequest } from '../hub/page-request.ts'
import type { AgentRow } from '../hub/page-state.ts'
import { useState } from 'preact/hooks'
import { act, actLater, actWithUndo, held as heldActs } from '../hub/act.ts'
import { request } from '../hub/page-request.ts'
import { me } from '../hub/page-state.ts'
import { LineForm } from '../frame/line-form.tsx'
import { PauseActs } from './pauses.tsx'

/** All acts on an agent. `held` is the task that it has. */
export function AgentActs({ agent, held }: { agent: AgentRow; held: Task | undefined }) {
  const [isWriting, setWriting] = useState(false)
  if (me.value?.role === 'observer') return null
  const { id, name = id } = agent
  const stop = () => {
    if (!held) return
    actWithUndo(
      `Stopped ${name}: its task is cancelled. A supervised agent is interrupted within seconds; another one learns of it with its next report.`,
      request('POST /api/agents/:id/stop', { id }),
      {},
      () => act(request('POST /api/tasks/:id/retry', { id: held.id })),
    )
  }
  return (
    <>
      <div class="buttons acts">
        <button
          data-key="o"
          disabled={!held}
          title={held ? 'Cancels its task and interrupts it' : 'The agent has no task'}
          onClick={stop}
        >
          <kbd>o</kbd> Stop its work
        </button>
        <button data-key="w" aria-expanded={isWriting} onClick={() => setWriting(!isWriting)}>
          <kbd>w</kbd> Write to it …
        </button>
        <PauseActs
          pausing={request('POST /api/agents/:id/pause', { id })}
          resuming={request('POST /api/agents/:id/resume', { id })}
          name={name}
          pause={agent.paused}
          words="Pause"
          keyed
        />
        <button
          data-key="x"
          disabled={agent.evicted !== undefined || heldActs.value.has(`evict ${id}`)}
          title="Its task goes back to the queue, and the agent stops when it next asks for work"
          onClick={() =>
            actLater(`evict ${id}`, `Removes ${name} from the hub`, () =>
              act(request('POST /api/agents/:id/evict', { id })),
            )
          }
        >
          <kbd>x</kbd> Remove from the hub
        </button>
      </div>
      {isWriting ? (
        <MessageForm
          to={name}
          sending={request('POST /api/agents/:id/message', { id })}
          done={() => setWriting(false)}
          focus
        />
      ) : null}
    </>
  )
}

type MessageFormProps = {
  to: string
  sending: HubRequest<'POST /api/agents/:id/message' | 'POST /api/broadcast'>
  done?(): void
  focus?: boolean
}

/** A message to one agent or to all. An agent reads it when it next asks for work, or at once if it is waiting. */
export function MessageForm({ to, sending, done, focus = false }: MessageFormProps) {
  return (
    <LineForm
      label={`Message to ${to}`}
      placeholder="Message; read when the agent next asks for work"
      button="Send"
      focus={focus}
      send={(text, clear) => {
        actLater(`message ${sending.path}`, `Message to ${to}: ${text}`, () => act(sending, { text }))
        clear()
        done?.()
      }}
    />
  )
}
