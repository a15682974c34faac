import type { HubKeys } from '../../engine/access/hub-keys.ts'
import type { Hub } from '../../engine/hub.ts'
import type { Invites } from '../../engine/access/invites.ts'
import type { SignIns } from '../../engine/access/sign-ins.ts'
import type { HubAuditBook, KeptAct } from '../../model/access/hub-audit.ts'
import type { HubCaller } from '../../model/access/hub-key.ts'
import type { HubRoute } from '../access/hub-router.ts'
import type { MachineParts } from './machine-routes.ts'
import type { Patience } from './route-forms.ts'
import { defined } from '../../../base/defined.ts'
import { hubProtocol } from '../../model/hub-protocol.ts'
import { hubRoles } from '../../model/access/hub-key.ts'
import { boolean, integer, number, oneOf, optional, parser, string } from '../../../core/data/shape.ts'
import { linkRoles } from '../../model/access/sign-in.ts'
import { mayDo } from '../../model/access/rights.ts'
import { HubError } from '../../engine/rules/task-rules.ts'
import { anyBody, post, text, wholeNumber } from './route-forms.ts'

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
  { get }: Patience,
  { turns }: Pick<MachineParts, 'turns'>,
): HubRoute[] {
  /** The turns whose questions the caller may answer. */
  const turnsFor = ({ role }: HubCaller) => (turns && mayDo(role, 'turns') ? turns.rows() : [])
  return [
    get('/api/people', 'Lists the names of the people at the hub.', async () => people(hub, keys, signIns), 'inbox'),
    get(
      '/api/inbox',
      'Lists what waits for the caller.',
      async ({ caller }) => hub.inbox.rows(caller.name, turnsFor(caller)),
      'inbox',
    ),
    post(
      '/api/inbox/mark',
      'Marks an item of the inbox as read, done, put off or taken.',
      'inbox',
      parser({
        item: text,
        read: optional(boolean()),
        done: optional(boolean()),
        until: optional(integer(0)),
        owner: optional(string()),
      }),
      async (mark, { caller }) => {
        await hub.inbox.mark(caller.name, defined(mark), turnsFor(caller))
        return {}
      },
    ),
    post(
      '/api/days/answer',
      'Answers whether a workspace goes on after the cap of a day.',
      'answer',
      parser({ workspace: text, text }),
      async (said, { caller }) => hub.questions.answerDay(said.workspace, said.text, caller.name),
    ),
    get('/api/me', 'The name, the role and the end of the caller’s key.', async ({ caller }) => caller, 'self'),
    get(
      '/api/version',
      'The version of termaite and of its protocol.',
      async () => defined({ version, protocol: hubProtocol }),
      'self',
    ),
    post('/api/me/end', 'Ends the caller’s own key.', 'self', anyBody, async (_, { caller }) =>
      keys.revoke(caller.id, caller),
    ),
    post(
      '/api/lent-keys',
      'Lends a key to an agent for one run.',
      'lend',
      parser({ name: text }),
      async ({ name }, { caller }) => keys.lend(name, caller),
    ),
    get('/api/links', 'Lists the links that the caller made.', async ({ caller }) => signIns.links(caller), 'link'),
    post(
      '/api/links',
      'Makes a link that signs a browser in.',
      'link',
      parser({ role: oneOf(...linkRoles), session: optional(text), hours: optional(number(0)) }),
      async (wish, { caller }) => defined({ ...(await signIns.makeLink(wish, caller)), page: page?.() }),
    ),
    get('/api/sign-ins', 'Lists the browsers that are signed in.', async ({ caller }) => signIns.list(caller), 'link'),
    post('/api/sign-ins/:id/end', 'Signs a browser out.', 'self', anyBody, async (_, { id, caller }) => {
      await signIns.end(id, caller)
      return {}
    }),
    get('/api/keys', 'Lists the keys, without their secrets.', async () => keys.list(), 'keys'),
    post(
      '/api/keys',
      'Makes a key; its secret is in this answer alone.',
      'keys',
      parser({ name: text, role: oneOf(...hubRoles), lifeMs: optional(number(0)) }),
      async ({ name, role, lifeMs }, { caller }) => keys.add(name, role, caller, lifeMs),
    ),
    post(
      '/api/keys/:id/rotate',
      'Gives a key a new secret; the old one works a while longer.',
      'keys',
      parser({ graceMs: optional(number(0)), lifeMs: optional(number(0)) }),
      async (wish, { id, caller }) => keys.rotate(id, caller, defined(wish)),
    ),
    post('/api/keys/:id/revoke', 'Ends a key, with its connections.', 'keys', anyBody, async (_, { id, caller }) =>
      keys.revoke(id, caller),
    ),
    get('/api/invites', 'Lists the invitations for agent machines.', async () => invites?.list() ?? [], 'keys'),
    post(
      '/api/invites',
      'Makes a code that the machine of an agent exchanges once, at `/api/join`, for a key of its own.',
      'keys',
      parser({ name: text, validMs: optional(number(0)), lifeMs: optional(number(0)) }),
      async ({ name, ...wish }, { caller }) => {
        if (!invites) throw new HubError('wrong', 'This hub makes no invitations.')
        return defined({ ...(await invites.make(name, caller, defined(wish))), page: page?.() })
      },
    ),
    get(
      '/api/audit',
      {
        about: 'Who did what at the hub, the oldest first.',
        query: {
          since: 'From this time, in ms since 1970 (0).',
          after: 'The number of the last act of an earlier answer.',
          limit: 'The most acts of one answer (1000).',
          by: 'Only what this client did.',
        },
      },
      async ({ query }) => actPage(audit, query),
      'audit',
    ),
  ]
}

/** The most acts of one page. */
const mostActs = 1_000

/** A page of acts, the oldest first; `after` is the number of the last one if more may follow. */
async function actPage(audit: HubDoors['audit'], query: URLSearchParams): Promise<{ acts: KeptAct[]; after?: number }> {
  const most = Math.min(mostActs, Math.max(1, wholeNumber(query, 'limit', mostActs)))
  const [since, after] = [wholeNumber(query, 'since', 0), wholeNumber(query, 'after', 0)]
  const acts = (await audit?.page(defined({ since, after, most, by: query.get('by') ?? undefined }))) ?? []
  return defined({ acts, after: acts.length === most ? acts.at(-1)!.number : undefined })
}

/** The names of the people whom the hub knows by a key, a sign-in or a proxy, in alphabetical order. */
async function people(hub: Hub, keys: HubKeys, signIns: SignIns): Promise<string[]> {
  const all = [...(await keys.list()), ...(await signIns.all())].filter(({ role }) => mayDo(role, 'inbox'))
  const names = [...all.map(({ name }) => name), ...(await hub.people.names())]
  return [...new Set(names)].toSorted((a, b) => a.localeCompare(b))
}
