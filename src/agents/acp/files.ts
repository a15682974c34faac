import type { ReadTextFileRequest, WriteTextFileRequest } from '@agentclientprotocol/sdk'
import type { Rules } from './rules.ts'
import { constants } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isMissing } from '../../base/files.ts'
import { shortPath } from '../../base/short-path.ts'
import { inside, isGits } from './inside.ts'
import { Refusal, forbid, mustAgree } from './rules.ts'

/** Longer files are read in parts, by the agent's own tools. */
const longestFile = 16 * 1024 * 1024

/** A file of the project as it is on the disk; undefined when there is none. */
export async function readFile({ path, line, limit }: ReadTextFileRequest, rules: Rules): Promise<string | undefined> {
  const text = await textAt(await within(path, 'reading', rules))
  if (text === undefined || (line == null && limit == null)) return text
  const from = Math.max(0, (line ?? 1) - 1)
  const lines = text.split(/(?<=\n)/)
  return lines.slice(from, limit == null ? undefined : from + limit).join('')
}

/** Writes a file of the project as far as the leash allows; what a person already saw is not shown again. */
export async function writeFile({ path, content }: WriteTextFileRequest, rules: Rules, signal: AbortSignal) {
  const real = await within(path, 'writing', rules)
  const short = shortPath(real, rules.cwd)
  const what = `writing ${short}`
  if (rules.leash === 'read') forbid(rules, what, 'this agent may only look')
  const edits = rules.leash === 'edit' || rules.allowed.hasEdits
  const free = rules.leash === 'all' || (edits && !isGits(rules.root, real))
  if (!free && !rules.allowed.takeWrite(real, content)) {
    const before = await textAt(real)
    const old = before === undefined ? {} : { before }
    const shown = { type: 'diff' as const, path: short, ...old, after: content }
    await mustAgree(rules, what, { text: `Write ${short}`, shows: [shown] }, signal)
  }
  await mkdir(dirname(real), { recursive: true })
  // The last part is no link, or `real` would not be its path: one that came since then is not followed.
  const file = await open(real, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW)
  try {
    await file.writeFile(content)
  } finally {
    await file.close()
  }
}

async function within(path: string, doing: string, rules: Rules): Promise<string> {
  const real = await inside(rules.root, path)
  return real ?? forbid(rules, `${doing} ${path}`, `it is not a file in ${rules.root}`)
}

async function textAt(real: string): Promise<string | undefined> {
  const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (!file) return undefined
  try {
    const found = await file.stat()
    if (!found.isFile()) throw new Refusal(`${real} is no file.`)
    if (found.size > longestFile) throw new Refusal(`${real} is longer than ${longestFile} bytes.`)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}
