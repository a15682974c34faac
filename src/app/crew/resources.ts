import type { Resource, Resources } from '../../faces/mcp/tool-server.ts'
import type { Crews } from './crews.ts'
import { CrewError } from '../../crew/error.ts'
import { entriesOf } from './logged.ts'

const artifact = (workspace: string, slot: number | string) => `termaite://crew/${workspace}/${slot}/artifact`
const log = (workspace: string, slot: number | string) => `termaite://crew/${workspace}/${slot}/log`

const place = /^termaite:\/\/crew\/([^/]+)\/([1-9]\d*)\/(artifact|log)$/

/** What a crew has to be read beside its tools: each agent's last answer, and its conversation. */
export function crewResources(crews: Crews): Resources {
  return {
    families: [
      {
        uri: artifact('{workspace}', '{slot}'),
        name: 'artifact',
        description: "An agent's last answer.",
        media: 'text/plain',
      },
      {
        uri: log('{workspace}', '{slot}'),
        name: 'log',
        description: "An agent's conversation, one entry a line.",
        media: 'application/x-ndjson',
      },
    ],
    async list() {
      const { crew } = crews.of()
      return (await crew.slots()).flatMap(({ id, agent, artifact: answer }): Resource[] => [
        ...(answer
          ? [
              {
                uri: artifact(crew.workspace, id),
                name: `slot ${id} artifact`,
                description: `The last answer of ${agent}.`,
                media: 'text/plain',
                bytes: answer.ref.bytes,
              },
            ]
          : []),
        {
          uri: log(crew.workspace, id),
          name: `slot ${id} log`,
          description: `What was said with ${agent}.`,
          media: 'application/x-ndjson',
        },
      ])
    },
    async read(uri) {
      const [, workspace, slot, what] = place.exec(uri) ?? []
      if (workspace === undefined) return undefined
      try {
        const { crew } = crews.of(decodeURIComponent(workspace))
        const { id } = await crew.slot(Number(slot))
        if (what === 'artifact') return { media: 'text/plain', text: (await crew.artifact(id)).output }
        const lines = (await entriesOf(crew, id)).map((entry) => JSON.stringify(entry))
        return { media: 'application/x-ndjson', text: lines.join('\n') }
      } catch (error) {
        if (error instanceof CrewError) return undefined
        throw error
      }
    },
  }
}
