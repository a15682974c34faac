import type { HubCaller } from '../../model/access/hub-key.ts'
import type { Right } from '../../model/access/rights.ts'
import { mayDo, rights } from '../../model/access/rights.ts'
import { HubError } from '../rules/task-rules.ts'

/** Throws when the caller's role does not have the operation. */
export function checkRole({ name, role }: HubCaller, operation: Right): void {
  if (mayDo(role, operation)) return
  const { roles, words } = rights[operation]
  throw new HubError(
    'forbidden',
    `${name} has the role ${role} and may not ${words}: that needs the role ${roles.join(' or ')}.`,
  )
}

/**
 * The agent that a caller speaks for: itself, or for an admin the agent that the request names. Throws if any other caller names an agent
 * other than itself.
 */
export function agentOf({ name, role }: HubCaller, named: string | undefined): string {
  if (named === undefined || named === name) return name
  if (role === 'admin') return named
  throw new HubError(
    'forbidden',
    `This key belongs to the agent ${name}, which cannot speak for ${named}. Leave the agent's id out, or send ${name}.`,
  )
}
