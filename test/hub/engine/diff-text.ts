import type { HubClient } from '../../../src/hub/client/hub-client.ts'
import type { Task } from '../../../src/hub/model/tasks/task.ts'

/** The diff of a task's last try that left one, as the hub serves it. */
export async function diffText(hub: Pick<HubClient, 'diff'>, { id, tries = [] }: Task): Promise<string> {
  const last = tries.findLast(({ diff }) => diff)
  const chunks: Uint8Array[] = []
  if (last) for await (const chunk of hub.diff(id, last.number)) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
