import type { Conversations, PageWish, UsageGroup, UsageWish } from '../../../core/turns/conversations.ts'
import type { MachinePrompts } from '../../../core/turns/machine-prompts.ts'
import type { MachineTurns } from '../../../core/turns/machine-turns.ts'
import type { MachineStanding } from '../../model/machine-standing.ts'
import type { HubRoute } from '../access/hub-router.ts'
import type { Patience } from './route-forms.ts'
import { defined } from '../../../base/defined.ts'
import { usageGroups } from '../../../core/turns/conversations.ts'
import { boolean, list, optional, parser } from '../../../core/data/shape.ts'
import { HubError } from '../../engine/rules/task-rules.ts'
import { anyBody, post, text, wholeNumber } from './route-forms.ts'

/** The machines that the hub knows. */
export type KnownMachines = {
  standings(): readonly MachineStanding[]
  /** Calls `see` after each change, until the returned function is called. */
  listen(see: () => void): () => void
  /** Frees the name of a machine that is offline; false if there is no such machine. */
  forget(machine: string): Promise<boolean>
}

/** The turns and the conversations of all machines. */
export type MachineParts = {
  turns?: MachineTurns
  conversations?: Conversations
  prompts?: MachinePrompts
  machines?: KnownMachines
}

/** The machines: their turns, their conversations and their usage. `forgotten` is called when the name of a machine becomes free. */
export function machineRoutes(
  { turns, conversations, prompts, machines }: MachineParts,
  { get }: Patience,
  forgotten: (machine: string) => Promise<void> = async () => {},
): HubRoute[] {
  return [
    get('/api/machines', 'Lists the machines that the hub knows.', async () => machines?.standings() ?? []),
    post(
      '/api/machines/:id/forget',
      'Frees the name of a machine that is offline.',
      'keys',
      anyBody,
      async (_, { id }) => {
        if (!(await machines?.forget(id)))
          throw new HubError('conflict', `No machine ${id} is offline at this hub. One that is linked keeps its name.`)
        await forgotten(id)
        return {}
      },
    ),
    post(
      '/api/turns/:id/answer',
      'Answers a question of a running turn.',
      'turns',
      parser({ ask: text, picks: optional(list(text)) }),
      async ({ ask, picks }, { id, caller }) => reached(id, await turns?.answer(id, ask, picks, caller)),
    ),
    post('/api/turns/:id/steer', 'Types to a running turn.', 'turns', parser({ text }), async (said, { id, caller }) =>
      reached(id, await turns?.steer(id, said.text, caller)),
    ),
    post('/api/turns/:id/cancel', 'Cancels a running turn.', 'turns', anyBody, async (_, { id, caller }) =>
      reached(id, await turns?.cancel(id, caller)),
    ),
    get(
      '/api/sessions',
      'Lists the sessions of all machines that offer them.',
      async () => conversations?.list() ?? [],
      'conversations',
    ),
    get(
      '/api/prompts',
      'Says whether prompts are taken, and for which agents.',
      async () => prompts?.rules() ?? { allowed: false, agents: [] },
      'prompt',
    ),
    post(
      '/api/prompts',
      'Sends a prompt to a project, and answers with the session once its turn has begun.',
      'prompt',
      parser({
        text,
        session: optional(text),
        project: optional(text),
        fresh: optional(boolean()),
        agent: optional(text),
        machine: optional(text),
      }),
      async (wish, { caller }) => {
        if (!prompts) throw new HubError('forbidden', 'This hub takes no prompts.')
        return prompts.send(defined(wish), caller)
      },
    ),
    get(
      '/api/projects',
      'Lists the projects of all machines that offer them.',
      async () => conversations?.projects() ?? [],
      'conversations',
    ),
    get(
      '/api/sessions/:id/entries',
      {
        about: 'A page of a conversation, oldest first; without a position, its end.',
        query: {
          before: 'Entries before this position.',
          after: 'Entries after this position.',
          around: 'Entries around the one with this id.',
        },
      },
      async ({ id, query, caller }) => {
        if (caller.session !== undefined && caller.session !== id)
          throw new HubError('forbidden', 'This link shows another session.')
        const page = await conversations?.page(id, wishIn(query))
        if (!page) throw new HubError('missing', `There is no session ${id}.`)
        // A guest sees the conversation, but not the project's folder on this machine.
        return caller.role === 'guest' ? { ...page, project: '' } : page
      },
      'watch',
    ),
    get(
      '/api/search',
      { about: 'Searches the conversations of all machines that offer them.', query: { q: 'The words to find.' } },
      async ({ query }) => conversations?.search(query.get('q') ?? '') ?? [],
      'conversations',
    ),
    get(
      '/api/usage',
      {
        about:
          'Tokens, cost, turns and failures of the machines that offer their conversations, and the agents that are not asked now.',
        query: {
          by: 'What each row is about: agent, day or project (agent).',
          since: 'Count from this time, in ms since 1970 (0).',
          zone: 'The time zone of the days, as in Europe/Berlin.',
        },
      },
      async ({ query }) => {
        const by = query.get('by') ?? 'agent'
        const group = usageGroups.find((each) => each === by)
        if (!group) throw new HubError('wrong', `by: found "${by}", allowed: ${usageGroups.join(', ')}.`)
        const rows = (await conversations?.usage(usageWish(group, query))) ?? []
        return { rows, away: (await conversations?.away()) ?? [] }
      },
      'conversations',
    ),
  ]
}

/** The part of a conversation that a request wants. */
function wishIn(query: URLSearchParams): PageWish {
  const place = (name: string) => (query.has(name) ? wholeNumber(query, name, 0) : undefined)
  return defined({ before: place('before'), after: place('after'), around: query.get('around') ?? undefined })
}

/** The part of the usage that a request wants: since a moment, by the days of the reader's own time zone. */
function usageWish(by: UsageGroup, query: URLSearchParams): UsageWish {
  const zone = query.get('zone') ?? undefined
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
  } catch {
    throw new HubError('wrong', `zone: found "${zone}", allowed: the name of a time zone, as in Europe/Berlin.`)
  }
  return defined({ by, since: wholeNumber(query, 'since', 0), zone })
}

/** Throws if a turn could not take what a person sent to it. */
function reached(turn: string, taken: boolean | undefined): object {
  if (!taken)
    throw new HubError('conflict', `Turn ${turn} is over, or somebody else has answered it already. Nothing was sent.`)
  return {}
}
