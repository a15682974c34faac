import { noEffortReason } from './agent-settings.ts'
import type { FileSettings } from './settings-schema.ts'

type Agent = NonNullable<FileSettings['agents']>[number]

const notUsed = 'is not used in this version'

const ofAgents: readonly { what: string; of(agent: Agent): boolean; words: string }[] = [
  ...(['baseURL', 'apiKeyEnv', 'retrySeconds'] as const).map((what) => ({
    what,
    of: (agent: Agent) => agent[what] !== undefined && !isNative(agent),
    words: notUsed,
  })),
  { what: 'keys', of: (agent) => agent.keys !== undefined && isNative(agent), words: notUsed },
  {
    what: 'wall',
    of: (agent) => agent.wall !== undefined && isNative(agent),
    words: 'is not used: the setting "sandbox" limits the commands of a native agent instead',
  },
  { what: 'args', of: ({ args, command }) => !!args && command === undefined, words: 'is not used without a command' },
  {
    what: 'model',
    of: ({ model, command, kind }) => !!model && command !== undefined && kind !== 'acp',
    words: 'is not used with a command',
  },
]

/** Warns about settings that are accepted but have no effect: without a warning a person would expect them to work. */
export function unusedWords(settings: FileSettings): string[] {
  const agents = (settings.agents ?? []).filter(({ enabled }) => enabled !== false)
  const strangers = Object.entries(settings.advisors ?? {}).filter(([, advisor]) =>
    agents.every(({ name }) => name !== advisor),
  )
  return [
    ...strangers.map(
      ([role, advisor]) =>
        `The setting "advisors" names ${advisor} as ${role}, but there is no enabled agent ${advisor}.`,
    ),
    ...agents.flatMap((agent) => {
      const why = agent.effort === undefined ? undefined : noEffortReason(agent)
      return why === undefined ? [] : [`effort of ${agent.name} is not used: ${why}.`]
    }),
    ...ofAgents.flatMap(({ what, of, words }) => {
      const names = agents.filter(of).map(({ name }) => name)
      return names.length === 0 ? [] : [`${what} of ${names.join(', ')} ${words}.`]
    }),
  ]
}

function isNative({ kind }: Agent): boolean {
  return kind === 'native'
}
