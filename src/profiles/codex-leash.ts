import type { Leash } from '../core/work/agent.ts'
import type { Mode } from './codex-dialect.ts'

/** What the sandbox holds, and whether it asks for the rest. */
export const modes: Record<Leash, Mode> = {
  read: { sandbox: 'read-only', approvalPolicy: 'never' },
  ask: { sandbox: 'read-only', approvalPolicy: 'on-request' },
  edit: { sandbox: 'workspace-write', approvalPolicy: 'on-request' },
  all: { sandbox: 'danger-full-access', approvalPolicy: 'never' },
}

export const flags = ({ sandbox, approvalPolicy }: Mode) =>
  `-c sandbox_mode=${sandbox} -c approval_policy=${approvalPolicy}`

/** What each leash means for Codex, in words. */
export const leashes: Record<Leash, string> = {
  read: 'reads and runs commands in a read-only sandbox without network',
  ask: 'as read, and asks before it changes a file or leaves the sandbox',
  edit: 'changes files in the project and runs commands in a sandbox without network; asks before it leaves it',
  all: 'runs everything without asking and without its sandbox',
}
