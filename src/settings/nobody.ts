import type { Settings } from './settings.ts'

/** How the two things that help are done where the words are read. */
type Ways = { setup: string; edit: string }

const inShell: Ways = { setup: 'Run `termaite setup`', edit: 'termaite config edit' }
export const atDesk: Ways = { setup: 'Type /setup', edit: '/config' }

/** Why no agent can take a turn, and what to do about it. */
export function nobodyWords({ agents }: Settings, { setup, edit } = inShell): string {
  if (agents.length === 0)
    return `no agent is configured yet. ${setup} to find the agents on this machine, or \`termaite demo\` to see it work without any.`
  const names = agents.map(({ name }) => name).join(', ')
  return `every agent is switched off or left out: ${names}. Switch one on with: ${edit}`
}
