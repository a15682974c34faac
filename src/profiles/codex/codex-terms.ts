import type { TermsChange } from '../../core/profile/turn-terms.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { Loose } from '../shared/jsonl.ts'
import { defined } from '../../base/defined.ts'
import { loose, parseLine } from '../shared/jsonl.ts'

/** The limits of a thread in this turn. */
export type Mode = { sandbox: string; approvalPolicy: string }

/** The sandbox of each leash, and whether Codex asks to leave it. */
export const modes: Record<Leash, Mode> = {
  read: { sandbox: 'read-only', approvalPolicy: 'never' },
  ask: { sandbox: 'read-only', approvalPolicy: 'on-request' },
  edit: { sandbox: 'workspace-write', approvalPolicy: 'on-request' },
  all: { sandbox: 'danger-full-access', approvalPolicy: 'never' },
}

const request = (method: string, params: Loose) => `${JSON.stringify({ id: method, method, params })}\n`

const settingsOf = 'config/read'
const update = 'thread/settings/update'

/** Changes the terms of the thread with this id, which is open in the app-server. */
export const codexTerms = (threadId: string): TermsChange => ({
  leashes: ['read', 'ask', 'edit', 'all'],
  begin(from, to) {
    const [model, effort] = [changed(from.model, to.model), changed(from.effort, to.effort)]
    // No request makes Codex go back to the model or the effort of its settings.
    if (model === null || effort === null) return undefined
    const isOther = from.leash !== to.leash
    const { sandbox, approvalPolicy } = modes[to.leash]
    const updated = (config: Loose) =>
      request(
        update,
        defined({
          ...{ threadId, model, effort },
          ...(isOther ? { approvalPolicy, sandboxPolicy: policyOf(sandbox, config) } : {}),
        }),
      )
    return {
      // The folders that this sandbox can write to, and its network, are in the settings.
      text: isOther && sandbox === 'workspace-write' ? request(settingsOf, {}) : updated({}),
      hear(text) {
        const { id, error, result } = parseLine(text)
        if (id !== settingsOf && id !== update) return undefined
        if (error !== undefined) return 'refused'
        return id === update ? 'accepted' : { send: updated(loose(loose(result).config)) }
      },
    }
  },
})

/** The new value; `null` if it is the one of the settings, and undefined if it is the value from before. */
const changed = (from: string | undefined, to: string | undefined) => (from === to ? undefined : (to ?? null))

/** A sandbox as the request describes it, with what the settings say about it. */
function policyOf(sandbox: string, { sandbox_workspace_write }: Loose): Loose {
  if (sandbox === 'read-only') return { type: 'readOnly', networkAccess: false }
  if (sandbox === 'danger-full-access') return { type: 'dangerFullAccess' }
  const own = loose(sandbox_workspace_write)
  return {
    type: 'workspaceWrite',
    writableRoots: Array.isArray(own.writable_roots) ? own.writable_roots : [],
    networkAccess: own.network_access === true,
    excludeTmpdirEnvVar: own.exclude_tmpdir_env_var === true,
    excludeSlashTmp: own.exclude_slash_tmp === true,
  }
}
