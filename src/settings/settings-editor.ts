import type { Ask } from '../core/talk/question.ts'
import type { FileSettings } from './settings-schema.ts'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { editFile } from '../base/process/editor.ts'
import { UsageError } from '../core/io.ts'
import { replaceFile } from '../base/files/files.ts'
import { withoutModelKeys } from '../core/profile/key-variables.ts'
import { consentOptions } from '../core/talk/consent.ts'
import { nameErrors } from '../store/store-error.ts'

export type Edit = {
  home: string
  env: Record<string, string | undefined>
  /** Gives the editor the terminal while it runs. */
  open<T>(edit: () => Promise<T>): Promise<T>
  /** Throws a UsageError that names the error. */
  validate(): Promise<void>
  ask: Ask
  signal: AbortSignal
}

/** Opens the settings in the user's editor until they are valid or the user gives up; returns the remaining error. */
export async function editSettings(edit: Edit): Promise<UsageError | undefined> {
  const file = await fileIn(edit.home)
  for (;;) {
    await edit.open(() => openEditor(file, edit.env))
    const wrong = await faultOf(edit.validate())
    if (!wrong) return undefined
    const picks = await edit.ask({ about: 'choice', text: wrong.message, from: [], options }, edit.signal)
    if (!picks?.includes('again')) return wrong
  }
}

const options = consentOptions({
  once: { id: 'again', label: 'Edit it again' },
  no: { id: 'leave', label: 'Leave the file as it is' },
})

/** The settings file in use. A new settings.json is only made when there is no config.yaml, which it would override. */
async function fileIn(home: string): Promise<string> {
  const [json, yaml] = [join(home, 'settings.json'), join(home, 'config.yaml')]
  // With the schema of an earlier version, the editor would complain about newer settings.
  if (existsSync(join(home, schemaFile))) await writeSchema(home)
  if (existsSync(json)) return json
  return existsSync(yaml) ? yaml : await writeSettings(home, { agents: [] })
}

async function openEditor(file: string, env: Edit['env']): Promise<void> {
  const why = await editFile(file, withoutModelKeys(env))
  if (why !== undefined) throw new UsageError(`${why}; the file is ${file}.`, 1)
}

async function faultOf(validation: Promise<void>): Promise<UsageError | undefined> {
  try {
    await validation
    return undefined
  } catch (error) {
    if (error instanceof UsageError) return error
    throw error
  }
}

/** Writes the complete settings, with a schema beside them for the editor. */
export async function writeSettings(home: string, settings: FileSettings): Promise<string> {
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const file = join(home, 'settings.json')
  await writeSchema(home)
  writeNamed(file, `${JSON.stringify({ $schema: `./${schemaFile}`, ...settings }, null, 2)}\n`)
  return file
}

/** Writes settings.json as this text, and the schema of this version beside it. */
export async function rewriteSettings(home: string, text: string): Promise<void> {
  await writeSchema(home)
  writeNamed(join(home, 'settings.json'), text)
}

/** Replaces a file of the settings; an error names the file and says what to do. */
export const writeNamed = (file: string, text: string): void => nameErrors('write', file, () => replaceFile(file, text))

/** The schema of the settings, beside them in termaite's home: a name without a folder works wherever termaite is installed. */
const schemaFile = 'settings.schema.json'

/** Writes the schema of this version's settings. */
async function writeSchema(home: string): Promise<void> {
  const { settingsSchema } = await import('./settings-json-schema.ts')
  writeNamed(join(home, schemaFile), `${JSON.stringify(settingsSchema(), null, 2)}\n`)
}
