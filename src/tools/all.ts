import type { Blobs } from '../core/talk/store.ts'
import type { Tool } from '../core/work/tool.ts'
import type { ToolParts } from './tool-parts.ts'
import { dirname } from 'node:path'
import { askQuestion } from './ask-question.ts'
import { bash } from './bash.ts'
import { fileCreator } from './file-creator.ts'
import { fileEditor } from './file-editor.ts'
import { fileReader } from './file-reader.ts'
import { Seen } from './files/file-access.ts'
import { glob } from './glob.ts'
import { grepSearch } from './grep-search.ts'
import { loadSkill } from './load-skill.ts'
import { ls } from './ls.ts'
import { sandbox } from './sandbox.ts'
import { Background } from './shell/background-commands.ts'
import { subagent } from './subagent.ts'
import { todoRead } from './todo-read.ts'
import { todoUpdate } from './todo-update.ts'
import { todoWrite } from './todo-write.ts'
import { TodoList } from './todo-list.ts'
import { webFetch } from './web-fetch.ts'
import { webSearch } from './web-search.ts'

export type ToolSet = {
  /** Always in the same order: they are part of what every request of a session begins with. */
  tools: Tool[]
  /** Folders where they put what is too long to be told: to read there is to read their own words. */
  own: readonly string[]
  /** Ends what still runs in the background. */
  close(): Promise<void>
}

/** The tools of one seat; what they remember of its files and commands lives and ends with it. */
export function nativeTools(parts: ToolParts): ToolSet {
  const seen = new Seen()
  const todos = new TodoList()
  const background = new Background(parts)
  const tools = [
    fileReader(parts, seen),
    fileEditor(seen),
    fileCreator(seen),
    bash(parts, background),
    grepSearch(parts),
    glob(parts),
    ls(parts),
    webSearch(parts),
    webFetch(parts),
    todoWrite(todos),
    todoRead(todos),
    todoUpdate(todos),
    askQuestion(),
    ...(parts.skills ? [loadSkill(parts.skills)] : []),
    ...(parts.consult ? [subagent(parts.consult)] : []),
    ...(parts.sandboxed ? [sandbox(parts.sandboxed)] : []),
  ]
  return { tools, own: [...placesOf(parts.blobs), background.folder], close: () => background.close() }
}

/** The folder of the long outputs, where it is one. */
function placesOf(blobs: Blobs): string[] {
  const place = blobs.place({ sha: '0'.repeat(64), media: 'text/plain', bytes: 0 })
  return place === undefined ? [] : [dirname(place)]
}
