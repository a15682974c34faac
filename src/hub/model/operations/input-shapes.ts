import {
  about,
  boolean,
  integer,
  list,
  number,
  object,
  optional,
  recognised,
  string,
} from '../../../core/data/shape.ts'
import { reason } from '../tasks/machine-rules.ts'
import { bundlePart, longestBundle } from '../tasks/task-try.ts'

/** A text or an id that must not be empty. */
export const text = string({ min: 1 })

/** The picks that answer a question. */
export const picks = about('The ids of options, or one text if the question takes a person’s own words.', list(text))

/** The empty answer to a request that has been carried out. */
export const nothing = object({})

/** A whole number in a query. */
export const wholeNumber = recognised('a whole number from 0 on', (value) => {
  const number = Number(value)
  return Number.isSafeInteger(number) && number >= 0 ? number : undefined
})

export const pauseFields = { why: optional(reason), drain: optional(boolean()) }

/** The most rows of one answer. */
export const mostRows = 1_000

/** The query fields for one page of a list. */
export const pageFields = {
  after: optional(about('The place from an earlier answer: its header x-next, or its field next or after.', string())),
  limit: optional(about(`The most rows of one answer (${mostRows}).`, wholeNumber)),
}

/** The query fields for a list of tasks. */
export const taskQueryFields = {
  state: optional(about('States of tasks, several with commas.', string())),
  workspace: optional(about('The key of a workspace.', string())),
  agent: optional(about('The id of an agent.', string())),
  pipeline: optional(about('The id of a pipeline.', string())),
  id: optional(about('The end of an id.', string())),
  ...pageFields,
}

/** A check as it is sent: its whole output, or the id of a text that was sent earlier. */
export const sentCheck = object({
  command: text,
  exit: optional(integer(-1_000_000)),
  why: optional(text),
  ms: optional(number(0)),
  output: optional(string()),
  whole: optional(text),
})

const sha = string({ matches: /^[0-9a-f]{64}$/, wants: 'a SHA-256 in 64 digits' })

/** A bundle in the form in which an agent sends it. */
export const sentBundle = object({
  id: sha,
  bytes: integer(1),
  parts: list(object({ id: sha, bytes: integer(0, bundlePart) }), 1, Math.ceil(longestBundle / bundlePart) + 1),
})

/** The place of the work of a try, as its agent reports it. */
export const sentPlace = object({
  machine: optional(text),
  branch: optional(text),
  commit: optional(text),
  base: optional(text),
  worktree: optional(text),
  pushed: optional(text),
  bundle: optional(sentBundle),
})
