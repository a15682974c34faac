import type { Settings } from './settings.ts'

/** Why no agent can take a turn, and what to do about it. */
export function nobodyWords({ agents }: Settings): string {
  if (agents.length === 0)
    return 'no agent is configured yet. Run `termaite setup` to find the agents on this machine, or `termaite demo` to see it work without any.'
  const names = agents.map(({ name }) => name).join(', ')
  return `every agent is switched off or left out: ${names}. Switch one on with: termaite config edit`
}
