import type { Hub } from '../../engine/hub.ts'
import type { HubRoute } from '../access/hub-router.ts'
import type { Patience } from './route-forms.ts'
import { HubError, taskIdOf } from '../../engine/rules/task-rules.ts'
import { StreamedText } from '../access/hub-router.ts'

/** The files of tasks: a person sends them before the task, and its agent reads them. */
export function attachmentRoutes(hub: Hub, { get }: Patience): HubRoute[] {
  return [
    {
      method: 'POST',
      path: '/api/attachments',
      about: 'Keeps a file for a task that is added afterwards.',
      operation: 'add',
      takesPieces: true,
      answer: async ({ pieces }) => hub.attachments.receive(pieces ?? none()),
    },
    get(
      '/api/tasks/:id/attachments/:number',
      'A file of a task; files are numbered from 1.',
      async ({ id, params }) => {
        const { attachments = [] } = await hub.task(taskIdOf(id))
        const found = attachments[Number(params.number) - 1]
        if (!found) throw new HubError('missing', `Task ${taskIdOf(id)} has no file ${params.number}.`)
        return new StreamedText(hub.attachments.read(found), found.bytes)
      },
    ),
  ]
}

async function* none(): AsyncGenerator<Uint8Array> {}
