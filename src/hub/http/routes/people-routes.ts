import type { HubAuditBook } from '../../model/access/hub-audit.ts'
import type { HubCaller } from '../../model/access/hub-key.ts'
import type { peopleOperations } from '../../model/operations/people-operations.ts'
import type { HubKeys } from '../../engine/access/hub-keys.ts'
import type { Hub } from '../../engine/hub.ts'
import type { Invites } from '../../engine/access/invites.ts'
import type { SignIns } from '../../engine/access/sign-ins.ts'
import type { Handlers } from '../access/hub-router.ts'
import type { MachineParts } from './machine-routes.ts'
import { defined } from '../../../base/defined.ts'
import { mayDo } from '../../model/access/rights.ts'
import { hubProtocol } from '../../model/hub-protocol.ts'
import { HubError } from '../../engine/rules/task-rules.ts'

/** The clients that the hub admits: those with a key, and browsers. */
export type HubDoors = {
  keys: HubKeys
  signIns: SignIns
  invites?: Invites
  /** The address of the page for browsers on other machines. */
  page?(): string | undefined
  /** The version of termaite that the hub runs under. */
  version?: string
  /** The acts of clients, if they are kept. */
  audit?: Pick<HubAuditBook, 'page'>
}

/** People: their inbox, their keys, and the browsers that are signed in. */
export function peopleRoutes(
  hub: Hub,
  { keys, signIns, invites, page, version, audit }: HubDoors,
  { turns }: Pick<MachineParts, 'turns'>,
): Handlers<keyof typeof peopleOperations> {
  /** The turns whose questions the caller may answer. */
  const turnsFor = ({ role }: HubCaller) => (turns && mayDo(role, 'turns') ? turns.rows() : [])
  return {
    'GET /api/people': async () => people(hub, keys, signIns),
    'GET /api/inbox': async (_, { caller }) => hub.inbox.rows(caller.name, turnsFor(caller)),
    'POST /api/inbox/mark': async (mark, { caller }) => {
      await hub.inbox.mark(caller.name, defined(mark), turnsFor(caller))
      return {}
    },
    'POST /api/days/answer': async (said, { caller }) =>
      hub.questions.answerDay(said.workspace, said.picks, caller.name),
    'GET /api/me': async (_, { caller }) => caller,
    'GET /api/version': async () => defined({ version, protocol: hubProtocol }),
    'POST /api/me/end': async (_, { caller }) => keys.revoke(caller.id, caller),
    'POST /api/lent-keys': async ({ name }, { caller }) => keys.lend(name, caller),
    'GET /api/links': async (_, { caller }) => signIns.links(caller),
    'POST /api/links': async (wish, { caller }) =>
      defined({ ...(await signIns.makeLink(wish, caller)), page: page?.() }),
    'GET /api/sign-ins': async (_, { caller }) => signIns.list(caller),
    'POST /api/sign-ins/:id/end': async (_, { id, caller }) => {
      await signIns.end(id, caller)
      return {}
    },
    'GET /api/keys': async () => keys.list(),
    'POST /api/keys': async ({ name, role, lifeMs }, { caller }) => keys.add(name, role, caller, lifeMs),
    'POST /api/keys/:id/rotate': async (wish, { id, caller }) => keys.rotate(id, caller, defined(wish)),
    'POST /api/keys/:id/revoke': async (_, { id, caller }) => keys.revoke(id, caller),
    'GET /api/invites': async () => invites?.list() ?? [],
    'POST /api/invites': async ({ name, ...wish }, { caller }) => {
      if (!invites) throw new HubError('wrong', 'This hub makes no invitations.')
      return defined({ ...(await invites.make(name, caller, defined(wish))), page: page?.() })
    },
    'GET /api/audit': async ({ since = 0, after = 0, limit = mostActs, by }) => {
      const most = Math.min(mostActs, Math.max(1, limit))
      const acts = (await audit?.page(defined({ since, after, most, by }))) ?? []
      return defined({ acts, after: acts.length === most ? acts.at(-1)!.number : undefined })
    },
  }
}

/** The most acts of one page. */
const mostActs = 1_000

/** The names of the people whom the hub knows by a key, a sign-in or a proxy, in alphabetical order. */
async function people(hub: Hub, keys: HubKeys, signIns: SignIns): Promise<string[]> {
  const all = [...(await keys.list()), ...(await signIns.all())].filter(({ role }) => mayDo(role, 'inbox'))
  const names = [...all.map(({ name }) => name), ...(await hub.people.names())]
  return [...new Set(names)].toSorted((a, b) => a.localeCompare(b))
}
