import type { Operation } from './operation.ts'
import { about, boolean, integer, list, number, object, oneOf, optional } from '../../../core/data/shape.ts'
import { questionSubjects } from '../../../core/talk/question.ts'
import { agent, given, registered, task } from './hub-shapes.ts'
import { nothing, text, picks } from './input-shapes.ts'

/** The most keys of workspaces that one agent registers. */
const mostWorkspaces = 1_000

/** Agents: they register, wait for work, ask and report; people send them messages and remove them. */
export const agentOperations = {
  'GET /api/agents': { about: 'Lists the registered agents.', right: 'read', output: list(agent) },
  'GET /api/agents/:id': { about: 'One registered agent as it is now.', right: 'read', output: agent },
  'POST /api/agents': {
    about: 'Registers the caller as an agent.',
    right: 'register',
    input: {
      id: optional(text),
      role: text,
      name: optional(text),
      capabilities: optional(list(text)),
      workspace: text,
      workspaces: optional(list(text, 0, mostWorkspaces)),
      version: optional(text),
      protocol: optional(integer(1)),
      source: optional(oneOf('CLI', 'IDE')),
      machine: optional(text),
    },
    output: registered,
  },
  'POST /api/agents/:id/wait': {
    about: 'Waits for a task, a message or the order to leave; at most 290 seconds.',
    right: 'take',
    input: {
      timeout: optional(about('Seconds to wait at most.', number(0))),
      asked: optional(
        about(
          'Which request for work of which run this is: a request that arrives after one with a higher number gets nothing.',
          object({
            run: about('New for each process of the agent.', text),
            number: about('Grows with each request for work.', integer(0)),
          }),
        ),
      ),
    },
    output: given,
    patience: 'wait',
    audit: 'claim',
  },
  'POST /api/agents/:id/evict': {
    about: 'Removes an agent from the hub.',
    right: 'evict',
    input: { why: optional(text) },
    output: nothing,
  },
  'POST /api/agents/:id/stop': { about: 'Stops the work of an agent on its task.', right: 'direct', output: task },
  'POST /api/agents/:id/message': {
    about: 'Sends a message to an agent, which it gets when it waits next.',
    right: 'broadcast',
    input: { text },
    output: registered,
  },
  'POST /api/agents/:id/status': {
    about: 'Reports the machine, the framework, the free disk and the quota of the calling agent.',
    right: 'report',
    input: {
      machine: optional(text),
      framework: optional(text),
      contextLeft: optional(number(0)),
      diskFree: optional(integer(0)),
      parkedUntil: optional(integer(0)),
      parkedWhy: optional(text),
    },
    output: nothing,
    audit: 'none',
  },
  'POST /api/agents/:id/spent': {
    about: 'Reports the total usage of the calling agent.',
    right: 'report',
    input: { tokens: integer(0), cost: optional(number(0)), priced: optional(integer(0)) },
    output: nothing,
    audit: 'none',
  },
  'POST /api/agents/:id/ask': {
    about: 'Shows a question of the calling agent to people.',
    right: 'ask',
    input: {
      id: text,
      text,
      about: optional(oneOf(...questionSubjects)),
      options: list(
        object({
          id: text,
          label: text,
          grants: optional(text),
          means: optional(oneOf('once', 'always', 'no')),
          key: optional(integer(0)),
        }),
      ),
      multiple: optional(boolean()),
      marked: optional(list(text)),
      ordered: optional(boolean()),
      free: optional(boolean()),
      task: optional(text),
    },
    output: registered,
  },
  'POST /api/agents/:id/withdraw': {
    about: 'Withdraws the question of the calling agent.',
    right: 'ask',
    output: registered,
  },
  'POST /api/agents/:id/answer': {
    about: 'Answers the question of an agent.',
    right: 'answer',
    input: { picks },
    output: registered,
  },
  'POST /api/broadcast': {
    about: 'Sends a message to all agents, or to those of one workspace.',
    right: 'broadcast',
    input: { text, workspace: optional(text) },
    output: object({ told: about('How many agents get the message.', integer(0)) }),
  },
} as const satisfies Record<string, Operation>
