import { defined } from '../base/defined.ts'
import { treesAt } from '../base/process/program-path.ts'
import type { Tool, ToolOutput } from '../core/work/tool.ts'
import type { ToolSet } from './tools/all-tools.ts'
import type { McpServers } from './tools/mcp/remote-servers.ts'
import type { Advise, Skill, ToolParts } from './tools/shared/tool-parts.ts'
import type { Toolbox, Consult, NativeParts, WithState } from './native-parts.ts'
import type { NestedInstructions } from './loop/nested-instructions.ts'
import { maskWithin } from '../safety/redaction.ts'
import { isSecretName } from '../safety/secret-files.ts'
import { nativeTools } from './tools/all-tools.ts'
import { toolIndex } from './tools/tool-index.ts'
import { formatterOf } from './native-formatter.ts'
import { sandboxOf } from './command-wall.ts'
import { agentShell } from './native-sandbox.ts'
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bash } from './tools/bash.ts'
import { BackgroundCommands } from './tools/shell/background-commands.ts'
import { editFormOf } from '../models/model-windows.ts'
import { findProgram } from '../profiles/installed-programs.ts'
import { nodeProgram } from '../base/process/own-program.ts'
import { shellWord } from '../base/text/shell-word.ts'

/** The tools of one agent. They exist as long as the run, because they remember which files were read. */
export function toolboxOf(name: string, parts: NativeParts): Toolbox {
  const { toolboxes } = parts.state.tools
  const known = toolboxes.get(name)
  if (known) return known
  let consult: Consult | undefined
  let listsSubagents = false
  const skills: Skill[] = []
  const made: Toolbox = {
    box: openTools(name, parts, skills, {
      async consult(request, call) {
        if (!consult) throw new Error('no agent can take the task now')
        return consult(request, call)
      },
      listsSubagents: () => listsSubagents,
    }),
    use(next, now, listed) {
      consult = next
      skills.splice(0, Infinity, ...now)
      listsSubagents = listed
    },
  }
  toolboxes.set(name, made)
  return made
}

/** The skills that a model may load by itself. */
export const loadableSkills = <S extends { unlisted?: true }>(skills: readonly S[]) =>
  skills.filter(({ unlisted }) => !unlisted)

/** The tools of an agent: all of `all` can be called, and those of the `frame` are described in every request. */
type OfferedTools = { all: Tool[]; frame: Tool[] }

/**
 * Offers tools to a model by its full name. Leaves out a tool with no targets, and a tool that changes files in a form for which the
 * model was not trained. `indexed`: the servers whose later tools can be called too.
 */
export function offeredTools(
  own: readonly Tool[],
  servers: McpServers | undefined,
  model: string,
  suits: (tool: Tool) => boolean,
  indexed: McpServers | undefined = servers,
): OfferedTools {
  const form = editFormOf(model)
  const isOffered = (tool: Tool) => (tool.available?.() ?? true) && (tool.editForm ?? form) === form && suits(tool)
  const [ours, remote] = [own.filter(isOffered), (servers?.tools() ?? []).filter(isOffered)]
  const hasShell = ours.some(({ isShell }) => isShell)
  const isDeferred = ({ onDemand }: Tool) =>
    typeof onDemand === 'function' ? onDemand() : onDemand === 'always' || (onDemand === 'with a shell' && hasShell)
  const frame = ours.filter((tool) => !isDeferred(tool))
  const index = toolIndex(frame, ours.filter(isDeferred), indexed)
  return { all: [...ours, ...index, ...remote], frame: [...frame, ...index, ...remote] }
}

/** Makes the tools of an agent; without `delegating` there is no subagent tool among them. */
export function openTools(
  name: string,
  parts: NativeParts,
  skills: readonly Skill[],
  delegating?: { consult: Consult; listsSubagents(): boolean },
): ToolSet {
  const { root, clock, blobs, border, state } = parts
  const sandbox = agentShell(name, parts, () => made.tools)
  const made: ToolSet = nativeTools({
    root,
    env: sandbox.env,
    clock,
    blobs,
    mask: border.toward('work'),
    skills,
    isSecret: isSecretName,
    ...delegating,
    // Only the agent that leads a turn has the tools for delegating.
    thinking: delegating && { advise: adviceOf(parts), available: () => state.turn.thinks === true },
    sandboxed: runIsolated(parts),
    shell: sandbox.shell,
    format: formatterOf(name, parts, () => made.tools),
    interpreter: sandbox.interpreter,
    // The setting is read at each call, because it may change while the tools exist.
    get web() {
      return state.tools.seats.get(name)?.settings.web ?? {}
    },
  })
  return { ...made, tools: made.tools.map(sandbox.explain) }
}

/** Asks for advice in the running turn. */
function adviceOf({ state }: WithState<'turn'>): Advise {
  return async (request, signal) => {
    if (!state.turn.advice?.ask)
      throw new Error(
        'think cannot be called in this turn: thinking is off, or a framework already thinks this turn through. Continue without it.',
      )
    return state.turn.advice.ask(request, signal)
  }
}

const byNode = nodeProgram().map(shellWord).join(' ')

/** The file for the program's text, and the command that runs it, by language. */
const languages: Record<string, { file: string; by: string }> = {
  python: { file: 'main.py', by: 'python3' },
  javascript: { file: 'main.mjs', by: byNode },
  typescript: { file: 'main.mts', by: byNode },
  bash: { file: 'main.sh', by: 'bash' },
  ruby: { file: 'main.rb', by: 'ruby' },
  perl: { file: 'main.pl', by: 'perl' },
  php: { file: 'main.php', by: 'php' },
  lua: { file: 'main.lua', by: 'lua' },
  go: { file: 'main.go', by: 'go run' },
}

/** Other names of the languages. */
const aliases: Record<string, string> = {
  py: 'python',
  python3: 'python',
  js: 'javascript',
  node: 'javascript',
  ts: 'typescript',
  sh: 'bash',
  shell: 'bash',
  rb: 'ruby',
  golang: 'go',
}

/**
 * Runs a program in an empty folder, in a sandbox without project, network and sockets; undefined if it is already known that there is no
 * sandbox.
 */
export function runIsolated(parts: NativeParts): ToolParts['sandboxed'] | undefined {
  const { env, clock, blobs, border, home } = parts
  if (process.platform !== 'darwin' && findProgram('bwrap', parts) === undefined) return undefined
  return async (language, code, call) => {
    const named = language.trim().toLowerCase()
    const how = languages[aliases[named] ?? named]
    if (!how) throw new Error(`${language} cannot be run here. Use one of: ${Object.keys(languages).join(', ')}.`)
    const root = await realpath(await mkdtemp(join(tmpdir(), 'termaite-apart-')))
    try {
      await writeFile(join(root, how.file), code)
      const shell = async (command: string) => {
        const limits = {
          root,
          project: 'write',
          git: 'read',
          sockets: false,
          network: false,
          home: env.HOME ?? home,
          hidden: [parts.root, ...treesAt(parts.root), ...parts.folders.now],
        } as const
        const inside = await sandboxOf(parts).wrap(['bash', '-c', command], limits)
        if ('none' in inside) throw new Error(`there is no sandbox here: ${inside.none}. Solve the task without it.`)
        return inside
      }
      // The program gets nothing of the person's: no key from the environment, and a separate folder as its home.
      const lean = { PATH: env.PATH, LANG: env.LANG, HOME: root, TMPDIR: root, GOCACHE: root }
      const run = bash(
        { env: lean, clock, blobs, mask: border.toward('work'), shell },
        new BackgroundCommands({ env: lean, clock, blobs, shell }),
      )
      return await run.run({ command: `${how.by} ${how.file}` }, { ...call, cwd: root })
    } finally {
      await rm(root, { recursive: true, force: true })
    }
  }
}

/** Notes the files that a tool has read or written, from the policy's decision on its call: their folders may have instructions. */
export function touchingTool(tool: Tool, nested: NestedInstructions, { state }: WithState<'tools'>): Tool {
  return {
    ...tool,
    async run(input, call) {
      const output = await tool.run(input, call)
      const parts = (typeof input === 'object' && input !== null && state.tools.judged.get(input)?.parts) || []
      for (const { paths } of parts) for (const { real } of paths) nested.touch(real)
      return output
    },
  }
}

/**
 * Applies the border to a tool. Its results go to the agent unchanged, except for termaite's own keys; and the placeholder of such a key
 * is never written, because it would replace the key in a file.
 */
export function borderedTool(tool: Tool, { border }: Pick<NativeParts, 'border'>): Tool {
  const mask = border.toward('work')
  return {
    ...tool,
    async run(input, call) {
      const mark = tool.risk === 'read' ? undefined : border.markIn(JSON.stringify(input) ?? '')
      if (mark !== undefined)
        throw new Error(
          `${mark} stands for a key of termaite that you are not shown. Leave the text with it unchanged.`,
        )
      try {
        return maskOutput(await tool.run(input, { ...call, progress: (delta) => call.progress(mask(delta)) }), mask)
      } catch (error) {
        throw error instanceof Error ? new Error(mask(error.message), { cause: error }) : error
      }
    },
  }
}

function maskOutput(output: ToolOutput, mask: (text: string) => string): ToolOutput {
  if (typeof output === 'string') return mask(output)
  const { text, data, ...rest } = output
  return defined({ ...rest, text: mask(text), data: maskWithin(data, mask) })
}
