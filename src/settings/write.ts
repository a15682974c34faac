import type { FileSettings } from './schema.ts'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../base/files.ts'
import { listForm } from './schema.ts'

/** Writes the settings whole, with a schema beside them so that an editor can help. */
export function writeSettings(home: string, settings: FileSettings): string {
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const file = join(home, 'settings.json')
  replaceFile(
    join(home, 'settings.schema.json'),
    `${JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', ...listForm.schema }, null, 2)}\n`,
  )
  replaceFile(file, `${JSON.stringify({ $schema: './settings.schema.json', ...settings }, null, 2)}\n`)
  return file
}
