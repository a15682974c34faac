import type { Leash } from '../core/work/agent.ts'

/** Its modes let these through unasked, and plan mode runs what a user's own rules allow: a tool that is taken away stays away. */
export const unasked = 'enter_worktree,exit_worktree,cron_create,cron_delete,record_artifact'
export const acting = `run_shell_command,edit,write_file,notebook_edit,agent,${unasked}`

export const modes: Record<Leash, string> = {
  read: `--approval-mode plan --exclude-tools ${acting}`,
  ask: `--approval-mode default --exclude-tools ${unasked}`,
  edit: `--approval-mode auto-edit --exclude-tools ${unasked}`,
  all: '--approval-mode yolo',
}
