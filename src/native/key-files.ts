import type { ToolCall } from '../core/work/tool.ts'
import type { JudgedCall } from '../safety/rules/judged-call.ts'
import type { NativeParts } from './native-parts.ts'
import { relative } from 'node:path'
import { onOneLine } from '../base/text/ansi.ts'
import { consentOptions } from '../core/talk/consent.ts'
import { secretFilesIn } from '../safety/secret-files.ts'

/** The key files of the project and the added folders, found once per turn: a search before each command would outlast the command. */
const keyFiles = new WeakMap<AbortSignal, Map<string, Promise<string[]>>>()

async function keyFilesOf(turn: AbortSignal, folders: readonly string[]): Promise<string[]> {
  const known = keyFiles.get(turn) ?? new Map<string, Promise<string[]>>()
  keyFiles.set(turn, known)
  for (const folder of folders) if (!known.has(folder)) known.set(folder, secretFilesIn(folder))
  return (await Promise.all(folders.map((folder) => known.get(folder)!))).flat()
}

/**
 * The key files that are hidden from a command. At `edit` and `ask` the person decides once for the project, when one of its own
 * programs is started for the first time: many need the keys.
 */
export async function hiddenKeys(
  keys: 'hidden' | 'shown' | 'decided',
  call: ToolCall,
  parts: NativeParts,
  judged: JudgedCall | undefined,
): Promise<string[]> {
  if (keys === 'shown') return []
  const files = await keyFilesOf(call.signal, [parts.root, ...parts.folders.now])
  if (keys === 'hidden' || files.length === 0) return files
  const { keys: decided } = await parts.project.read()
  if (decided !== undefined) return decided === 'shown' ? [] : files
  const isOwn = judged?.parts.some(({ class: kind }) => kind === 'runs')
  return isOwn && (await askForKeys(files, call, parts)) ? [] : files
}

async function askForKeys(files: readonly string[], call: ToolCall, { project, root }: NativeParts): Promise<boolean> {
  const named = files.slice(0, 3).map((file) => onOneLine(relative(root, file)))
  const more = files.length > named.length ? ` and ${files.length - named.length} more` : ''
  const picks = await call.ask(
    {
      about: 'permission',
      text: `May commands in this project see its files with keys (${named.join(', ')}${more})? Its own programs may need them.`,
      from: [],
      options: consentOptions({
        always: { id: 'shown', label: 'Yes, always in this project' },
        no: { id: 'hidden', label: 'No, keep them hidden' },
      }),
      enter: 'hidden',
    },
    call.signal,
  )
  if (!picks) return false
  const keys = picks.includes('shown') ? ('shown' as const) : ('hidden' as const)
  await project.update((doc) => ({ ...doc, keys }))
  return keys === 'shown'
}
