import type { Blobs } from '../../core/talk/store.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { ToolParts } from './shared/tool-parts.ts'
import { dirname } from 'node:path'
import { applyPatch } from './apply-patch.ts'
import { askQuestion } from './ask-question.ts'
import { bash } from './bash.ts'
import { fileCreator } from './file-creator.ts'
import { fileEditor } from './file-editor.ts'
import { fileReader } from './file-reader.ts'
import { ReadFiles } from './files/file-access.ts'
import { glob } from './glob.ts'
import { grepSearch } from './grep-search.ts'
import { jobs } from './jobs.ts'
import { loadSkill } from './load-skill.ts'
import { ls } from './ls.ts'
import { sandbox } from './sandbox.ts'
import { sendNotification } from './send-notification.ts'
import { BackgroundCommands } from './shell/background-commands.ts'
import { subagent } from './subagent.ts'
import { thinkTool } from './think.ts'
import { todoRead } from './todo/todo-read.ts'
import { todoUpdate } from './todo/todo-update.ts'
import { todoWrite } from './todo/todo-write.ts'
import { TodoList } from './todo/todo-list.ts'
import { webFetch } from './web-fetch.ts'
import { webSearch } from './web-search.ts'

export type ToolSet = {
  /** The order is always the same, because every request of a session begins with the tools. */
  tools: Tool[]
  /** Folders in which the tools store long outputs; reading there needs no permission. */
  own: readonly string[]
  /** Whether a background command still runs. */
  busy(): boolean
  /** The commands in the background, and commands that could be moved there. */
  jobs: BackgroundCommands
  /** Events in the background since the last call, as text for the model. */
  news(): Promise<string | undefined>
  /** Stops the background commands. */
  close(): Promise<void>
}

/** The tools of one agent, with their memory of its read files and its background commands. */
export function nativeTools(parts: ToolParts): ToolSet {
  const seen = new ReadFiles()
  const todos = new TodoList()
  const background = new BackgroundCommands(parts)
  const tools = [
    fileReader(parts, seen),
    fileEditor(parts, seen),
    applyPatch(parts, seen),
    fileCreator(parts, seen),
    bash(parts, background),
    jobs(background),
    grepSearch(parts),
    glob(parts),
    ls(parts),
    webSearch(parts),
    webFetch(parts),
    todoWrite(todos),
    todoRead(todos),
    todoUpdate(todos),
    askQuestion(),
    sendNotification(),
    ...(parts.skills ? [loadSkill(parts.skills)] : []),
    ...(parts.consult ? [subagent(parts.consult, parts.listsSubagents)] : []),
    ...(parts.thinking ? [thinkTool(parts.thinking.advise, parts.thinking)] : []),
    ...(parts.sandboxed ? [sandbox(parts.sandboxed)] : []),
  ]
  return {
    tools,
    own: [...placesOf(parts.blobs), background.folder],
    busy: () => background.running,
    jobs: background,
    news: () => background.news(),
    close: () => background.close(),
  }
}

/** The folder of long outputs, if they are stored on disk. */
function placesOf(blobs: Blobs): string[] {
  const place = blobs.place({ sha: '0'.repeat(64), media: 'text/plain', bytes: 0 })
  return place === undefined ? [] : [dirname(place)]
}
