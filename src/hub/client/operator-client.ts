import type { KeptAct } from '../model/access/hub-audit.ts'
import type { InviteWish } from '../model/access/invitation.ts'
import type { HubRole, Rotation } from '../model/access/hub-key.ts'
import type { MachineWish } from '../model/tasks/machine-rules.ts'
import type { FieldsOf } from '../model/operations/operations.ts'
import type { HubConnection } from './hub-connection.ts'

/** The subject of a pause: an agent, the agents of a machine, or the whole hub. */
export type PauseTarget = { agent: string } | { machine: string } | { hub: true }

/** The requests of an operator of a hub: about its keys, invitations, machines and pauses, its audit and its ledger. */
export class OperatorClient {
  #connection: HubConnection

  constructor(connection: HubConnection) {
    this.#connection = connection
  }

  keys() {
    return this.#connection.call('GET /api/keys', {})
  }

  addKey(name: string, role: HubRole, lifeMs?: number) {
    return this.#connection.call('POST /api/keys', {}, { name, role, lifeMs })
  }

  /** Gives a key a new secret; returns the secret, or the file that holds it. */
  rotateKey(nameOrId: string, wish: Rotation = {}) {
    return this.#connection.call('POST /api/keys/:id/rotate', { id: nameOrId }, wish)
  }

  revokeKey(nameOrId: string) {
    return this.#connection.call('POST /api/keys/:id/revoke', { id: nameOrId })
  }

  invites() {
    return this.#connection.call('GET /api/invites', {})
  }

  /** Makes an invitation for an agent machine; `page` is the address of the hub for other machines, if the hub knows one. */
  invite(name: string, wish: InviteWish) {
    return this.#connection.call('POST /api/invites', {}, { name, ...wish })
  }

  /** Makes the hub of this machine write a copy of its ledger; returns the path of the copy. */
  async copyLedger(): Promise<string> {
    return (await this.#connection.call('POST /api/hub/copy', {})).path
  }

  /** Counts everything that is removed with the finished tasks that are older than a given age. */
  prunable(keptMs: number) {
    return this.#connection.call('GET /api/retention', {}, { keptMs })
  }

  /** Removes some of the finished tasks that are older than a given age. */
  prune(keptMs: number) {
    return this.#connection.call('POST /api/retention/prune', {}, { keptMs })
  }

  /** The acts of clients at the hub, oldest first, page by page. */
  async *audit(query: Pick<FieldsOf<'GET /api/audit'>, 'since' | 'by'> = {}): AsyncGenerator<KeptAct[]> {
    for (let after: number | undefined = 0; after !== undefined;) {
      const page: { acts: KeptAct[]; after?: number } = await this.#connection.call(
        'GET /api/audit',
        {},
        { ...query, after },
      )
      yield page.acts
      after = page.after
    }
  }

  machines() {
    return this.#connection.call('GET /api/machines', {})
  }

  forgetMachine(machine: string) {
    return this.#connection.call('POST /api/machines/:id/forget', { id: machine })
  }

  /** The rules of machines, and the pause of the whole hub. */
  rules() {
    return this.#connection.call('GET /api/rules', {})
  }

  /** Sets the labels and the limit of a machine; an empty list removes the labels, and 0 removes the limit. */
  setMachine(machine: string, wish: MachineWish) {
    return this.#connection.call('POST /api/machines/:id/rules', { id: machine }, wish)
  }

  /** Gives nothing new to an agent, to the agents of a machine, or to anybody. */
  pause(of: PauseTarget, wish: FieldsOf<'POST /api/hub/pause'>): Promise<object> {
    if ('agent' in of) return this.#connection.call('POST /api/agents/:id/pause', { id: of.agent }, wish)
    if ('machine' in of) return this.#connection.call('POST /api/machines/:id/pause', { id: of.machine }, wish)
    return this.#connection.call('POST /api/hub/pause', {}, wish)
  }

  resume(of: PauseTarget): Promise<object> {
    if ('agent' in of) return this.#connection.call('POST /api/agents/:id/resume', { id: of.agent })
    if ('machine' in of) return this.#connection.call('POST /api/machines/:id/resume', { id: of.machine })
    return this.#connection.call('POST /api/hub/resume', {})
  }
}
