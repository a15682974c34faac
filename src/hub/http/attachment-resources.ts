import type { Attachment } from '../model/tasks/attachment.ts'
import type { HubCaller } from '../model/access/hub-key.ts'
import type { TaskState } from '../model/tasks/task.ts'
import type { Hub } from '../engine/hub.ts'
import type { Resources } from '../../wire/mcp/tool-server.ts'
import { attachmentUri } from '../engine/tools/tool-views.ts'
import { mayDo } from '../model/access/rights.ts'
import { HubError } from '../engine/rules/task-rules.ts'

/** The files of tasks as MCP resources. An agent sees the files of its own task. */
export function attachmentResources(hub: Hub, caller: HubCaller): Resources {
  return {
    families: [],
    async list() {
      const held = await hub.tasks({ agent: caller.name, states: heldStates })
      return held.flatMap(({ id, attachments = [] }) =>
        attachments.map(({ name, media, bytes }, at) => ({ uri: attachmentUri(id, at, name), name, media, bytes })),
      )
    },
    async read(uri) {
      const [, task = '', number] = /^termaite-hub:\/\/tasks\/([\w-]+)\/files\/(\d+)\/[^/]*$/.exec(uri) ?? []
      const known = mayDo(caller.role, 'read') ? await hub.task(task).catch(missing) : undefined
      const found: Attachment | undefined = known?.attachments?.[Number(number) - 1]
      if (!found) return undefined
      const body = await hub.attachments.whole(found)
      const isText = found.media === 'text/plain'
      return isText
        ? { media: found.media, text: body.toString('utf8') }
        : { media: found.media, blob: body.toString('base64') }
    },
  }
}

const heldStates: readonly TaskState[] = ['PENDING_ACK', 'ASSIGNED', 'IN_PROGRESS']

function missing(error: unknown): undefined {
  if (!(error instanceof HubError && error.kind === 'missing')) throw error
}
