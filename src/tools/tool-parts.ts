import type { Clock } from '../base/clock.ts'
import type { Blobs } from '../core/talk/store.ts'
import type { ToolCall, ToolOutput } from '../core/work/tool.ts'
import type { Fetch } from './web/web-request.ts'

/** A skill as it is loaded: its text is read when it is asked for. */
export type Skill = { name: string; description: string; body(): string | Promise<string> }

/** What the tools of one seat are made of; a part that is absent leaves out the tool that needs it. */
export type ToolParts = {
  /** The project, as a real path: what lies outside is shown as such. */
  root: string
  env: Readonly<Record<string, string | undefined>>
  clock: Clock
  /** Where long outputs are kept whole. */
  blobs: Blobs
  /** Takes secrets out of what a tool keeps on the disk. */
  mask?(text: string): string
  /** Files with keys in them: a search of a folder leaves them out, so that they are only read when they are named. */
  hides?(path: string): boolean
  /** What a shell command is run by, a sandbox for one; bash alone when nobody says. */
  shell?(command: string): Promise<readonly [string, ...string[]]>
  web?: WebParts
  skills?: readonly Skill[]
  /** Another agent's answer to a task, and nothing else of it. */
  consult?(task: string, call: ToolCall): Promise<ToolOutput>
  /** Runs a piece of code away from the project. */
  sandboxed?(language: string, code: string, call: ToolCall): Promise<ToolOutput>
}

export type WebParts = {
  /** An address of one's own that answers as SearXNG does. */
  search?: string
  /** Hosts that may be fetched although they are on a private network. */
  allowed?: readonly string[]
  /** How a page comes; over the network when nobody says. */
  fetch?: Fetch
}
