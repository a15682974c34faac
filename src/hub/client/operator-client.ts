import type { KeptAct } from '../model/access/hub-audit.ts'
import type { HubRole } from '../model/access/hub-key.ts'
import type { MachineRules } from '../model/tasks/machine-rules.ts'
import type { MachineStanding } from '../model/machine-standing.ts'
import type { Prunable, Pruned } from '../model/tasks/retention.ts'
import type { ListedKey, NewKey, Rotation } from '../model/access/hub-key.ts'
import type { InviteWish, ListedInvite, NewInvite } from '../model/access/hub-invite.ts'
import type { MachineWish } from '../model/tasks/machine-rules.ts'
import type { HubConnection } from './hub-connection.ts'

/** The subject of a pause: an agent, the agents of a machine, or the whole hub. */
export type PauseTarget = { agent: string } | { machine: string } | { hub: true }

/** The requests of an operator of a hub: about its keys, invitations, machines and pauses, its audit and its ledger. */
export class OperatorClient {
  #connection: HubConnection

  constructor(connection: HubConnection) {
    this.#connection = connection
  }

  keys(): Promise<ListedKey[]> {
    return this.#connection.ask('GET', '/api/keys')
  }

  addKey(name: string, role: HubRole, lifeMs?: number): Promise<NewKey> {
    return this.#connection.ask('POST', '/api/keys', { name, role, lifeMs })
  }

  /** Gives a key a new secret; returns the secret, or the file that holds it. */
  rotateKey(nameOrId: string, wish: Rotation = {}): Promise<NewKey | { file: string }> {
    return this.#connection.ask('POST', `/api/keys/${encodeURIComponent(nameOrId)}/rotate`, wish)
  }

  revokeKey(nameOrId: string): Promise<ListedKey> {
    return this.#connection.ask('POST', `/api/keys/${encodeURIComponent(nameOrId)}/revoke`, {})
  }

  invites(): Promise<ListedInvite[]> {
    return this.#connection.ask('GET', '/api/invites')
  }

  /** Makes an invitation for an agent machine; `page` is the address of the hub for other machines, if the hub knows one. */
  invite(name: string, wish: InviteWish): Promise<NewInvite & { page?: string }> {
    return this.#connection.ask('POST', '/api/invites', { name, ...wish })
  }

  /** Makes the hub of this machine write a copy of its ledger; returns the path of the copy. */
  async copyLedger(): Promise<string> {
    return (await this.#connection.ask<{ path: string }>('POST', '/api/hub/copy', {})).path
  }

  /** Counts everything that is removed with the finished tasks of an age. */
  prunable(keptMs: number): Promise<Prunable> {
    return this.#connection.ask('GET', `/api/retention?keptMs=${keptMs}`)
  }

  /** Removes a part of the finished tasks of an age. */
  prune(keptMs: number): Promise<Pruned> {
    return this.#connection.ask('POST', '/api/retention/prune', { keptMs })
  }

  /** The acts of clients at the hub, the oldest first, page by page. */
  async *audit(query: { since?: number; by?: string } = {}): AsyncGenerator<KeptAct[]> {
    for (let after: number | undefined = 0; after !== undefined;) {
      const fields = Object.entries({ ...query, after }).map(([name, value]) => [name, String(value)])
      const path = `/api/audit?${new URLSearchParams(fields)}`
      const page: { acts: KeptAct[]; after?: number } = await this.#connection.ask('GET', path)
      yield page.acts
      after = page.after
    }
  }

  machines(): Promise<MachineStanding[]> {
    return this.#connection.ask('GET', '/api/machines')
  }

  forgetMachine(machine: string): Promise<object> {
    return this.#connection.ask('POST', `/api/machines/${encodeURIComponent(machine)}/forget`, {})
  }

  /** The rules of machines, and the pause of the whole hub. */
  rules(): Promise<MachineRules[]> {
    return this.#connection.ask('GET', '/api/rules')
  }

  /** Sets the labels and the limit of a machine; an empty list and 0 take them away. */
  setMachine(machine: string, wish: MachineWish): Promise<MachineRules> {
    return this.#connection.ask('POST', `/api/machines/${encodeURIComponent(machine)}/rules`, wish)
  }

  /** Gives nothing new to an agent, to the agents of a machine, or to anybody. */
  pause(of: PauseTarget, wish: { why?: string; drain?: boolean }): Promise<object> {
    return this.#connection.ask('POST', `${targetPath(of)}/pause`, wish)
  }

  resume(of: PauseTarget): Promise<object> {
    return this.#connection.ask('POST', `${targetPath(of)}/resume`, {})
  }
}

function targetPath(of: PauseTarget): string {
  if ('agent' in of) return `/api/agents/${encodeURIComponent(of.agent)}`
  return 'machine' in of ? `/api/machines/${encodeURIComponent(of.machine)}` : '/api/hub'
}
