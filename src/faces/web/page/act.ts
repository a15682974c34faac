import { signal } from '@preact/signals'
import { call } from './hub-connection.ts'

/** The words of the hub's last refusal; shown until the next act. */
export const refused = signal('')

/** Sends what the person does to the hub, and calls `done` afterwards; a refusal is shown instead. */
export function act(path: string, body: unknown = {}, done: () => void = () => {}): void {
  refused.value = ''
  call('POST', path, body).then(done, (error: unknown) => {
    refused.value = error instanceof Error ? error.message : String(error)
  })
}

export const taskPath = (id: string, verb: string) => `/api/tasks/${encodeURIComponent(id)}/${verb}`
export const agentPath = (id: string, verb: string) => `/api/agents/${encodeURIComponent(id)}/${verb}`
