import type { FileSettings } from './settings-schema.ts'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { UsageError } from '../core/io.ts'
import { rewriteSettings, writeNamed } from './settings-editor.ts'
import { readSettingsFile } from './settings-file.ts'

/** Changes one setting of the person, and nothing else in the file: comments and order stay. Throws a UsageError if the file is broken. */
export async function saveSetting<K extends keyof FileSettings>(
  home: string,
  key: K,
  value: NonNullable<FileSettings[K]>,
): Promise<void> {
  const [json, yaml] = [join(home, 'settings.json'), join(home, 'config.yaml')]
  const file = existsSync(json) || !existsSync(yaml) ? json : yaml
  // A file with a fault is not edited, because its meaning is not known.
  const before = await readSettingsFile(file)
  if (isDeepStrictEqual(before?.[key], value)) return
  if (file === json)
    return rewriteSettings(home, await inJson(before ? readFileSync(json, 'utf8') : '{}\n', key, value))
  writeNamed(yaml, await inYaml(yaml, readFileSync(yaml, 'utf8'), key, value))
}

async function inJson(text: string, key: string, value: unknown): Promise<string> {
  const { applyEdits, modify } = await import('jsonc-parser')
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : ''
  const body = text.slice(mark.length)
  const indent = /\n([ \t]+)\S/.exec(body)?.[1] ?? '  '
  const eol = body.includes('\r\n') ? '\r\n' : '\n'
  const formattingOptions = { insertSpaces: !indent.includes('\t'), tabSize: indent.length, eol }
  return mark + applyEdits(body, modify(body, [key], value, { formattingOptions }))
}

/** Writes a setting on one line of YAML, which has JSON inside it. */
async function inYaml(file: string, text: string, key: string, value: unknown): Promise<string> {
  const line = `${key}: ${JSON.stringify(value)}`
  const there = new RegExp(`^${key}[ \\t]*:.*$`, 'm')
  const after = there.test(text)
    ? text.replace(there, () => line)
    : `${text}${/(?:^|\n)$/.test(text) ? '' : '\n'}${line}\n`
  const { parseYaml } = await import('./yaml.ts')
  const [was, is] = [text, after].map((each) => valueIn(() => parseYaml(file, each).value))
  if (isDeepStrictEqual(is, { ...was, [key]: value })) return after
  throw new UsageError(
    `${file} could not be changed without a risk to the rest of it. Write this line into it: ${line}`,
    1,
  )
}

function valueIn(read: () => unknown): Record<string, unknown> | undefined {
  try {
    return read() as Record<string, unknown>
  } catch {
    return undefined
  }
}
