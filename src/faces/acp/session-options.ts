import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk'
import type { Leash } from '../../core/work/agent.ts'
import type { EditorDesk } from './editor-desk.ts'
import { leashes } from '../../core/work/agent.ts'

/** Anybody whose turn it is. */
export const auto = 'auto'

const leashWords: Record<Leash, string> = {
  read: 'look only',
  ask: 'act after a yes',
  edit: 'change files in the project, ask for the rest',
  all: 'everything, without asking',
}

/** Who works and how, for clients that know modes alone. */
export function sessionModes({ modes, desk }: EditorDesk): SessionModeState {
  return {
    currentModeId: desk.standing().mode,
    availableModes: modes.map(({ id, name, means }) => ({ id, name, description: means })),
  }
}

/** All that a person can turn: the mode, the leash, and who speaks. */
export function sessionConfig(office: EditorDesk, agent: string): SessionConfigOption[] {
  const { mode, leash, agents } = office.desk.standing()
  return [
    {
      id: 'mode',
      name: 'Mode',
      category: 'mode',
      type: 'select',
      currentValue: mode,
      options: office.modes.map(({ id, name, means }) => ({ value: id, name, description: means })),
    },
    {
      id: 'leash',
      name: 'Leash',
      description: 'How much an agent may do.',
      type: 'select',
      currentValue: leash,
      options: leashes.map((value) => ({ value, name: value, description: leashWords[value] })),
    },
    {
      id: 'agent',
      name: 'Agent',
      description: 'Who takes the turns; another one goes on where it fails.',
      category: 'model',
      type: 'select',
      currentValue: agent,
      options: [
        { value: auto, name: auto, description: 'whoever the rotation chooses' },
        ...agents.map(({ name }) => ({ value: name, name })),
      ],
    },
  ]
}
