import type { Io } from '../../core/io.ts'
import type { Place } from '../../home/place.ts'
import type { Consent } from '../../native/mcp/mcp-entries.ts'
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { slips } from '../../base/text/nearest.ts'
import { sourceText } from '../../base/source-text.ts'
import { TrustBook } from '../../safety/trust/folder-trust.ts'
import { readUntrustedFile } from '../../safety/untrusted-file.ts'
import { namesIn } from '../../base/files/files.ts'
import { folderQuestion } from '../../native/native-trust.ts'
import { fileStore } from '../../store/files/file-store.ts'
import { say, UsageError, voiceOf } from '../../core/io.ts'
import { answered } from '../../questions/terminal-questions.ts'

/** The instructions that an agent gets first, and their source. */
export type Workflow = { name: string; text: string; from: string }

const folder = '.agent/workflows'
const longest = 1024 * 1024
const builtIn = ['orc'] as const
export const usualWorkflow = 'orc'

/** The file names of a workflow: its own name, and the names that earlier versions used. */
const spellings = (name: string) => [name, `termaite-${name}`, `waaah-${name}`]

/** Finds a workflow: the project's own if the folder is trusted, otherwise the built-in one. */
export async function findWorkflow(io: Io, place: Place, name: string, consent: Consent): Promise<Workflow> {
  if (basename(name) !== name)
    throw new UsageError(`--as: found "${name}", allowed: the name of a workflow, not a path.`)
  const file = spellings(name)
    .map((one) => join(place.root, folder, `${one}.md`))
    .find((path) => existsSync(path))
  const ours = builtIn.find((one) => spellings(one).includes(name))
  if (file !== undefined && (await isTrusted(io, place, consent)))
    return { name, text: readWorkflow(file, place.root), from: file }
  const untrusted = `${file} is not used, because this folder is not trusted. To see what it would start and trust it, run: termaite trust`
  if (ours === undefined) throw file === undefined ? missing(name, place.root) : new UsageError(`--as: ${untrusted}`)
  if (file !== undefined) say(io, `termaite: ${untrusted}`)
  return { name, text: sourceText(`supervise/agent/workflows/${ours}.md`).trim(), from: 'built in' }
}

function readWorkflow(file: string, root: string): string {
  const body = readUntrustedFile(file, longest, root)
  if (typeof body !== 'object') throw new UsageError(`--as: ${file} cannot be read: ${body ?? 'it is gone'}.`)
  const text = body.text.trim()
  if (text === '') throw new UsageError(`--as: ${file} is empty.`)
  return text
}

/** Whether the folder is trusted. A person at the terminal is asked; without a person the answer is no. */
async function isTrusted(io: Io, { root, home }: Place, { yes, dry }: Consent): Promise<boolean> {
  const book = new TrustBook(fileStore(home, voiceOf(io)), { clock: io.clock, own: home })
  const now = await book.of(root)
  if (now.state === 'trusted') return true
  // Trust is only given after the person saw the files, never by a flag, and not if there are too many files to check.
  if (yes || dry || io.in.isTTY !== true || now.excess !== undefined) return false
  const picks = await answered(io, await folderQuestion({ root, home }, now, book), io.signal)
  return picks?.includes('trust') === true && (await book.trust(root, now.mark)).state === 'trusted'
}

function missing(name: string, root: string): UsageError {
  const own = namesIn(join(root, folder)).flatMap((file) => /^(.+)\.md$/.exec(file)?.[1] ?? [])
  const known = [...new Set([...own, ...builtIn])]
  const sorted = known.toSorted((a, b) => slips(name, a) - slips(name, b) || (a < b ? -1 : 1))
  return new UsageError(`--as: there is no workflow "${name}" (${folder}/${name}.md). Found: ${sorted.join(', ')}.`)
}

/** Fills in the agent's name, its id at the hub and the workspace. */
export function fillWorkflow(text: string, facts: Readonly<Record<'agent' | 'id' | 'workspace', string>>): string {
  return text.replaceAll(/\{\{(agent|id|workspace)\}\}/g, (_, key: keyof typeof facts) => facts[key])
}
