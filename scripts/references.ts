// Writes docs/reference and the manual page from the code. test/references.test.ts fails where they differ from it.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { projectSettingsSchema, settingsSchema } from '../src/settings/settings-json-schema.ts'
import {
  commandReference,
  exitReference,
  keyReference,
  slashReference,
  variableReference,
} from './references/command-reference.ts'
import { fileReference } from './references/file-reference.ts'
import { apiReference, openApi } from './references/hub-api.ts'
import { manPage } from './references/man-page.ts'
import { referenceFolder } from './references/page.ts'
import { settingsReference } from './references/settings-reference.ts'
import { hookReference, toolReference } from './references/tool-reference.ts'

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

/** The files that are made from the code, by their paths in the repository. */
export const references: Readonly<Record<string, () => string>> = {
  [`${referenceFolder}/settings.md`]: settingsReference,
  [`${referenceFolder}/settings.schema.json`]: () => json(settingsSchema()),
  [`${referenceFolder}/project-settings.schema.json`]: () => json(projectSettingsSchema()),
  [`${referenceFolder}/commands.md`]: commandReference,
  [`${referenceFolder}/slash-commands.md`]: slashReference,
  [`${referenceFolder}/keys.md`]: keyReference,
  [`${referenceFolder}/exit-codes.md`]: exitReference,
  [`${referenceFolder}/environment.md`]: variableReference,
  [`${referenceFolder}/hub-api.md`]: apiReference,
  [`${referenceFolder}/hub-openapi.json`]: openApi,
  [`${referenceFolder}/tools.md`]: toolReference,
  [`${referenceFolder}/hooks.md`]: hookReference,
  [`${referenceFolder}/files.md`]: fileReference,
  'man/termaite.1': manPage,
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(references)) {
    const file = join(import.meta.dirname, '..', path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text())
  }
}
