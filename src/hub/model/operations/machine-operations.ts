import type { PromptRules } from '../../../core/turns/machine-prompts.ts'
import type { MachineStanding } from '../machine-standing.ts'
import type { Operation } from './operation.ts'
import { about, boolean, list, object, optional, recognised, string } from '../../../core/data/shape.ts'
import { usageGroups } from '../../../core/turns/conversations.ts'
import { labels, limit } from '../tasks/machine-rules.ts'
import { shapeOf } from './described.ts'
import { maybe, registered, rules, text as anyText, time } from './hub-shapes.ts'
import { nothing, pauseFields, text, wholeNumber } from './input-shapes.ts'
import { away, entryPage, found, project, session, used } from './people-shapes.ts'

/** The machines: their turns, their conversations and their usage. */
export const machineOperations = {
  'GET /api/machines': {
    about: 'Lists the machines that the hub knows.',
    right: 'read',
    output: list(
      shapeOf<MachineStanding>()(
        object({
          machine: anyText,
          online: boolean(),
          since: about('Since when it is linked, or offline.', time),
          own: optional(about('Whether the hub runs on it.', boolean())),
          runsHub: optional(about('Whether another hub of the same ledger runs on it.', boolean())),
          version: maybe,
          offers: list(anyText),
        }),
      ),
    ),
  },
  'POST /api/machines/:id/forget': {
    about: 'Frees the name of a machine that is offline.',
    right: 'keys',
    output: nothing,
  },
  'POST /api/turns/:id/answer': {
    about: 'Answers a question of a running turn.',
    right: 'turns',
    input: { ask: text, picks: optional(list(text)) },
    output: nothing,
  },
  'POST /api/turns/:id/steer': {
    about: 'Types into a running turn.',
    right: 'turns',
    input: { text },
    output: nothing,
  },
  'POST /api/turns/:id/cancel': { about: 'Cancels a running turn.', right: 'turns', output: nothing },
  'GET /api/sessions': {
    about: 'Lists the sessions of all machines that offer them.',
    right: 'conversations',
    output: list(session),
  },
  'GET /api/prompts': {
    about: 'Says whether prompts are taken, and for which agents.',
    right: 'prompt',
    output: shapeOf<PromptRules>()(object({ allowed: boolean(), agents: list(anyText) })),
  },
  'POST /api/prompts': {
    about: 'Sends a prompt to a project, and answers with the session once its turn has begun.',
    right: 'prompt',
    input: {
      text,
      session: optional(text),
      project: optional(text),
      fresh: optional(boolean()),
      agent: optional(text),
      machine: optional(text),
    },
    output: object({ session: anyText }),
  },
  'GET /api/projects': {
    about: 'Lists the projects of all machines that offer them.',
    right: 'conversations',
    output: list(project),
  },
  'GET /api/sessions/:id/entries': {
    about: 'A page of a conversation, oldest first; without a position, its end.',
    right: 'watch',
    input: {
      before: optional(about('Entries before this position.', wholeNumber)),
      after: optional(about('Entries after this position.', wholeNumber)),
      around: optional(about('Entries around the one with this id.', string())),
    },
    output: entryPage,
  },
  'GET /api/search': {
    about: 'Searches the conversations of all machines that offer them.',
    right: 'conversations',
    input: { q: optional(about('The words to find.', string())) },
    output: list(found),
  },
  'GET /api/usage': {
    about:
      'Tokens, cost, turns and failures of the machines that offer their conversations, and the agents that are not asked now.',
    right: 'conversations',
    input: {
      by: optional(
        about(
          'What each row stands for: agent, day or project (agent).',
          recognised(usageGroups.join(', '), (value) => usageGroups.find((each) => each === value)),
        ),
      ),
      since: optional(about('Count from this time, in ms since 1970 (0).', wholeNumber)),
      zone: optional(about('The time zone of the days, as in Europe/Berlin.', string())),
    },
    output: object({ rows: list(used), away: list(away) }),
  },
} as const satisfies Record<string, Operation>

/** Seconds for operations on a whole ledger, such as copying it: they can take minutes. */
const wholeLedger = 360

/** The orders of operators: pauses of agents, machines and the hub, and the labels and limits of machines. */
export const operatorOperations = {
  'GET /api/rules': {
    about: 'Lists the pauses, labels and limits of machines; the pause of the whole hub has the name `*`.',
    right: 'read',
    output: list(rules),
  },
  'POST /api/agents/:id/pause': {
    about: 'Gives an agent no new tasks until it is resumed; the task that it has goes on.',
    right: 'pause',
    input: pauseFields,
    output: registered,
  },
  'POST /api/agents/:id/resume': {
    about: 'Gives tasks to a paused agent again.',
    right: 'pause',
    output: registered,
  },
  'POST /api/machines/:id/pause': {
    about: 'Gives the agents of a machine no new tasks until it is resumed.',
    right: 'operate',
    input: pauseFields,
    output: rules,
  },
  'POST /api/machines/:id/resume': {
    about: 'Gives tasks to the agents of a paused machine again.',
    right: 'operate',
    output: rules,
  },
  'POST /api/machines/:id/rules': {
    about:
      'Sets the labels of a machine, and the most tasks that its agents have at once; an empty list removes the labels, and 0 the limit.',
    right: 'operate',
    input: { labels: optional(labels), limit: optional(limit) },
    output: rules,
  },
  'POST /api/hub/pause': {
    about: 'Gives nobody new tasks, at any hub of the ledger, until it is resumed.',
    right: 'operate',
    input: pauseFields,
    output: rules,
  },
  'POST /api/hub/copy': {
    about:
      'Writes a copy of a ledger in a file beside it, and returns its path. Only for the key of the hub’s own machine.',
    right: 'operate',
    output: object({ path: anyText }),
    patience: wholeLedger,
  },
  'POST /api/hub/resume': { about: 'Gives out tasks again.', right: 'operate', output: rules },
} as const satisfies Record<string, Operation>
