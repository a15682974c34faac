import type { Ref } from '../talk/store.ts'
import type { Ask, Shown } from '../talk/question.ts'
import type { Outcome } from '../talk/outcome.ts'
import type { Agent, Leash } from './agent.ts'

export type Risk = 'read' | 'write' | 'run'

/** A file or folder that a call would read, write or remove; an absolute path, whose links a policy follows. */
export type PathAccess = { access: 'read' | 'write' | 'remove'; path: string }

/** A path of a call, and the target of its links when the policy judged it. */
export type CheckedPlace = { path: string; real: string }

/** The effect of one call, which its tool declares before it runs. Policies judge the effect, never a tool's name. */
export type Effect =
  /** Changes nothing outside the conversation. */
  | { does: 'nothing' }
  | { does: 'access'; paths: readonly PathAccess[] }
  /** A command line for the shell; `outside` says why the agent wants it outside the sandbox. */
  | { does: 'command'; command: string; outside?: string }
  /** Code in another language, whose effect is only known when it runs; `outside` says why it cannot run behind a wall. */
  | { does: 'code'; code: string; outside?: string }
  | { does: 'fetch'; url: string }
  /** Runs code that can reach neither the project nor the network. */
  | { does: 'isolated' }
  | { does: 'unknown'; why: string }

/**
 * Other names of a tool, mostly those of Claude Code: in rules, which may use one name for several tools, and in hooks. `limits`:
 * names whose rules can only forbid this tool or make it ask, because it does more than the tool of that name.
 */
type ToolAliases = { rules?: readonly string[]; limits?: readonly string[]; hooks?: readonly string[] }

/** The form in which a tool accepts changes of files: texts to replace, or a patch. */
export type EditForm = 'edits' | 'patch'

/** The surroundings of one call of a tool. */
export type ToolCall = {
  cwd: string
  /** The leash of the calling turn; missing for a call from outside a turn. */
  leash?: Leash
  /** The places that the policy judged: a path that now leads elsewhere is not touched. Missing for a call without a policy. */
  places?: readonly CheckedPlace[]
  signal: AbortSignal
  ask: Ask
  /** Shows output while the tool runs; it is not kept. */
  progress(delta: string): void
  /** Gives a task to another agent, which sees nothing else of the turn, has the same leash and uses the same budget. */
  consult(agent: Agent, role: string, task: string): Promise<Outcome>
  /** When the caller stops waiting, by `Clock.elapsed`. */
  until: number
  /** The folders in which a client from outside says that it works. */
  folders?(): Promise<string[]>
}

export type ToolOutput = string | { text: string; data?: unknown; files?: Ref[] }

/** A call of a tool that is not described in every request: the model makes it through another tool. */
type IndirectCall = { tool: string; input: unknown }

/** The input with which a model makes an indirect call. A conversation stores the call itself, and its messages have this form. */
export const indirectInput = ({ tool, input }: IndirectCall) => ({ name: tool, input })

/**
 * Anything that a model can call. `parse` throws a message that says what to send instead; the model gets the message of an error that
 * `run` throws.
 */
export interface Tool<I = unknown> {
  name: string
  /** The description of the tool in every request. */
  description: string
  /** Rare cases and examples, for a model that asks for the tool's details or sent a wrong input. */
  notes?: string
  schema: Record<string, unknown>
  /** A shorter form of the schema, for requests. */
  brief?: Record<string, unknown>
  /** The JSON Schema of the result's `data`. A tool with one returns data with every good result. */
  output?: Record<string, unknown>
  risk: Risk
  /** Whether no other tool of the same step may run at the same time; if the tool asks the person, the step ends after it. */
  alone?: boolean
  /** Tools that no call of the same step may use, because this one needs their results first; `why` tells the model so. */
  notBeside?: { tools: readonly string[]; why: string }
  /** Says what a call would do. Without it, a call of a reading tool only reads, and the effect of any other is unknown. */
  effect?(input: I, cwd: string): Effect
  /**
   * A request has only its name and the names of its inputs, and `more_tools` describes it: always, because few sessions need it,
   * only if there is a shell, or only if the function says so. A session without a shell only reads and plans, and has the tools for
   * that at once.
   */
  onDemand?: 'always' | 'with a shell' | (() => boolean)
  /** Runs any command line. */
  isShell?: boolean
  /** The other call that a call of this tool stands for: that tool is judged, run, shown and recorded instead. */
  standsFor?(input: unknown): IndirectCall | undefined
  aliases?: ToolAliases
  /** A model is only offered those tools for changing files for whose form it was trained. */
  editForm?: EditForm
  /** The content that a person sees before they agree, if the input alone does not show it plainly. */
  shows?(input: I): Shown[]
  /** The shell commands that a rule about this tool also decides: those that read files, write files or use the network. */
  coversShell?: 'read' | 'write' | 'network'
  /** Delegates work to another agent: not offered in plan mode, nor to a subagent. */
  delegates?: boolean
  /** Belongs to the conversation with the person: not offered to a subagent. */
  leadOnly?: boolean
  /** Helps an agent that does all the work itself: not offered to a coordinator, which has workers. */
  worksAlone?: boolean
  /**
   * Reports before the work is done, to the person or to the agent that sent this one. Not offered to a subagent, whose caller
   * waits only for its answer.
   */
  reports?: boolean
  /** Whether the tool is of any use now; otherwise no model is offered it. */
  available?(): boolean
  parse(input: unknown): I
  run(input: I, call: ToolCall): Promise<ToolOutput>
}

/** Everything about a tool in one text. */
export function describedTool({ name, description, notes, schema }: Tool): string {
  const more = notes === undefined ? '' : `\nNotes: ${notes}`
  return `${name}: ${description}${more}\nInput: ${JSON.stringify(schema)}`
}

export type Result = { ok: boolean; text: string; data?: unknown; files?: Ref[] }

/** Whether plan mode offers a tool: it changes nothing, runs nothing and delegates nothing. */
export const isPlanTool = ({ risk, delegates }: Tool): boolean => risk === 'read' && !delegates
