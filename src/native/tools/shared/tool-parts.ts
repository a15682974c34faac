import type { Env } from '../../../base/env.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Framework } from '../../../core/talk/framework.ts'
import type { Blobs } from '../../../core/talk/store.ts'
import type { ToolCall, ToolOutput } from '../../../core/work/tool.ts'
import type { Fetch } from './web-request.ts'

/** A skill; its text is read when it is loaded. */
export type Skill = { name: string; description: string; body(): string | Promise<string> }

/** Thinks a question through in a framework; the signal ends only the waiting, not the thinking. */
export type Advise = (
  request: { framework: Exclude<Framework, 'direct'>; question: string },
  signal?: AbortSignal,
) => Promise<string>

/** The parts that the tools of one agent need. If an optional part is missing, the tool that needs it is left out. */
export type ToolParts = {
  /** The project's real path: a listing marks links that lead out of it. */
  root: string
  env: Env
  clock: Clock
  /** Stores long outputs whole. */
  blobs: Blobs
  /** Removes secrets from text that a tool stores on disk. */
  mask?(text: string): string
  /** Whether a file may contain keys: the search of a folder skips such files, so they are only read if they are named. */
  isSecret?(path: string): boolean
  /** Starts a shell command, for example in a sandbox; without it, bash is used. */
  shell?(command: string, call: ToolCall): Promise<ShellStart>
  /**
   * Starts an interpreter, whose code comes later and cannot be judged by its command line; `outside`: the code cannot run behind a wall.
   */
  interpreter?(command: string, call: ToolCall, outside: boolean): Promise<ShellStart>
  /** Runs the formatter that the settings specify for a file; undefined if they specify none. */
  format?(path: string, call: ToolCall): Promise<FormatterRun | undefined>
  web?: WebParts
  skills?: readonly Skill[]
  /** Gives a task to another agent and returns its answer; `type` names the kind of agent. */
  consult?(request: { task: string; type?: string }, call: ToolCall): Promise<ToolOutput>
  /** Whether the prompt of the session lists subagents, which the model then calls by name. */
  listsSubagents?(): boolean
  /** Thinks a question through with other agents; `available` says whether the tool is offered. */
  thinking?: { advise: Advise; available(): boolean }
  /** Runs code in an empty folder, without access to the project. */
  sandboxed?(language: string, code: string, call: ToolCall): Promise<ToolOutput>
}

/** A formatter that was run on a file: its command from the settings, and why it failed, if it did. */
export type FormatterRun = { command: string; problem?: string }

/** How a command is started. */
export type ShellStart = {
  argv: readonly [string, ...string[]]
  /** The command's environment, if it differs from the tools' environment. */
  env?: ToolParts['env']
  /** Identifies the walls around the command: an interpreter is only used again behind the same walls. */
  walls?: string
  /** Called once the command's last process has exited: removes its leftovers, and returns sentences about them. */
  settle?(): Promise<string[]>
}

type WebParts = {
  /** The address of the person's own SearXNG server. */
  search?: string
  /** Hosts on a private network from which pages may be fetched anyway. */
  allowed?: readonly string[]
  /** The function that fetches a page; without one, pages are fetched over the network. */
  fetch?: Fetch
}
