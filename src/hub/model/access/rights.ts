import type { CallerRole } from './hub-key.ts'

/** The right to one kind of operation at the hub: the roles that have it, and the text that completes "may not …". */
type RightRow = { roles: readonly CallerRole[]; words: string }

/**
 * The operations that each role may perform; every operation and every tool of the hub names its right here. A key of the role agent
 * never reviews. An admin's key includes the role agent, so that one MCP client of the hub's owner can both work and give out work; an
 * admin could make itself a key of the role agent anyway.
 */
export const rights = {
  self: { roles: ['guest', 'observer', 'agent', 'member', 'admin'], words: 'see or end its own key' },
  read: { roles: ['observer', 'agent', 'member', 'admin'], words: 'read agents, tasks and changes' },
  register: { roles: ['agent', 'admin'], words: 'register as an agent' },
  take: { roles: ['agent', 'admin'], words: 'take tasks' },
  report: { roles: ['agent', 'admin'], words: 'report on tasks' },
  ask: { roles: ['agent', 'admin'], words: 'ask questions about tasks' },
  comment: { roles: ['agent', 'member', 'admin'], words: 'comment on tasks' },
  add: { roles: ['member', 'admin'], words: 'add tasks' },
  answer: { roles: ['member', 'admin'], words: 'answer questions' },
  review: { roles: ['member', 'admin'], words: 'approve or reject work' },
  merge: { roles: ['member', 'admin'], words: 'merge work on the machine of the hub' },
  vouch: { roles: ['member', 'admin'], words: 'report checks that termaite ran' },
  direct: { roles: ['member', 'admin'], words: 'stop, cancel, retry or redirect tasks' },
  broadcast: { roles: ['member', 'admin'], words: 'send messages to agents' },
  inbox: { roles: ['member', 'admin'], words: 'read and change an inbox' },
  pause: { roles: ['member', 'admin'], words: 'pause, drain or resume agents' },
  operate: { roles: ['admin'], words: 'pause, drain, label or limit machines, or pause the hub' },
  evict: { roles: ['member', 'admin'], words: 'remove agents' },
  lend: { roles: ['member', 'admin'], words: 'lend keys to agents' },
  machine: { roles: ['agent', 'member', 'admin'], words: 'link a machine to the hub' },
  turns: { roles: ['admin'], words: 'see, answer and steer the turns of the machines' },
  conversations: { roles: ['admin'], words: 'read the conversations of the machines' },
  terminals: { roles: ['admin'], words: 'see the terminals of the machines' },
  type: { roles: ['admin'], words: 'type into the terminals of the machines' },
  prompt: { roles: ['admin'], words: 'send prompts to the projects of the machines' },
  watch: { roles: ['guest', 'admin'], words: 'read one conversation' },
  link: { roles: ['member', 'admin'], words: 'make links to the page' },
  keys: { roles: ['admin'], words: 'list or change keys' },
  prune: { roles: ['admin'], words: 'remove finished tasks' },
  audit: { roles: ['admin'], words: 'read the audit' },
} as const satisfies Record<string, RightRow>

export type Right = keyof typeof rights

export function mayDo(role: CallerRole, right: Right): boolean {
  const { roles }: RightRow = rights[right]
  return roles.includes(role)
}
