import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk'
import type { EditorDesk } from './editor-desk.ts'
import { leashMeanings, leashes } from '../core/work/agent.ts'

/** Leaves the choice of the agent to the rotation. */
export const auto = 'auto'

/** The work modes, for clients that support no other options. */
export function sessionModes({ modes, desk }: EditorDesk): SessionModeState {
  return {
    currentModeId: desk.standing().mode,
    availableModes: modes.map(({ id, name, means }) => ({ id, name, description: means })),
  }
}

/** The options that a person can set in their editor: the mode, the leash and the agent. */
export function sessionConfig(desk: EditorDesk, agent: string): SessionConfigOption[] {
  const { mode, leash, agents } = desk.desk.standing()
  return [
    {
      id: 'mode',
      name: 'Mode',
      category: 'mode',
      type: 'select',
      currentValue: mode,
      options: desk.modes.map(({ id, name, means }) => ({ value: id, name, description: means })),
    },
    {
      id: 'leash',
      name: 'Leash',
      description: 'How much an agent may do.',
      type: 'select',
      currentValue: leash,
      options: leashes.map((value) => ({ value, name: value, description: leashMeanings[value] })),
    },
    {
      id: 'agent',
      name: 'Agent',
      description: 'Which agent takes the turns. When it fails, the rotation chooses another one.',
      category: 'model',
      type: 'select',
      currentValue: agent,
      options: [
        { value: auto, name: auto, description: 'the rotation chooses' },
        ...agents.map(({ name }) => ({ value: name, name })),
      ],
    },
  ]
}
