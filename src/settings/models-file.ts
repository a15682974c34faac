import type { OwnRow } from '../models/model-windows.ts'
import { readFileSync } from 'node:fs'
import {
  boolean,
  faultWords,
  faultsIn,
  integer,
  mapOf,
  number,
  object,
  oneOf,
  optional,
  string,
} from '../core/data/shape.ts'
import { providers } from '../models/provider.ts'
import { useOwnRows } from '../models/model-windows.ts'
import { messageOf } from '../base/error-message.ts'
import { SettingsError } from './fault.ts'
import { checkFile } from './settings-file.ts'

const dollars = number(0)
const rates = { input: dollars, cached: dollars, output: dollars, written: optional(dollars) }

/**
 * One model: the known model whose facts it copies, its window in tokens, its longest answer, how its effort is set, how it changes
 * files, and its price in dollars per million tokens.
 */
const row = object({
  like: optional(string({})),
  window: optional(integer(1)),
  output: optional(integer(1)),
  thinks: optional(oneOf('adaptive', 'budget', 'effort', 'level')),
  blind: optional(boolean()),
  edits: optional(oneOf('edits', 'patch')),
  price: optional(object({ ...rates, over: optional(object({ tokens: integer(1), ...rates })) })),
})

const name = string({
  matches: new RegExp(`^(${Object.keys(providers).join('|')})/.`),
  wants: `a name "<provider>/<model>" with one of the providers ${Object.keys(providers).join(', ')}`,
})

/** The form of models.json: facts that the person knows better than termaite's own list of models. */
export const modelsForm = mapOf(row, name)

/** Reads models.json, and uses its rows from now on. */
export async function readModelsFile(file: string): Promise<void> {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new SettingsError([{ file, key: '', words: `cannot be read: ${messageOf(error)}` }])
  }
  const problems = (value: unknown) =>
    faultsIn(modelsForm, value).map((fault) => ({ path: fault.path, words: faultWords(fault) }))
  useOwnRows((await checkFile(file, text, problems)) as Record<string, OwnRow>)
}
