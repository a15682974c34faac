import type { JsonSchema } from '../../src/core/data/shape.ts'
import type { Tool } from '../../src/core/work/tool.ts'
import type { CallerRole } from '../../src/hub/model/access/hub-key.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { hubRoles } from '../../src/hub/model/access/hub-key.ts'
import { crewTools } from '../../src/crew/tools/crew-tools.ts'
import { workerTools } from '../../src/crew/workers/worker-tools.ts'
import { hubTools } from '../../src/hub/engine/tools/hub-tools.ts'
import { nativeTools } from '../../src/native/tools/all-tools.ts'
import { thinkTool } from '../../src/native/tools/think.ts'
import { hookTable } from '../../src/safety/hooks/hook-config.ts'
import { code, nobody, page, plain, table } from './page.ts'
import { typeWords } from './settings-reference.ts'

export function toolReference(): string {
  const byRole = hubRoles.map((role) => ({ role, tools: hubToolsFor(role) }))
  const all = new Map(byRole.flatMap(({ tools }) => tools.map((tool) => [tool.name, tool])))
  const rolesOf = (name: string) =>
    byRole.flatMap(({ role, tools }) => (tools.some((tool) => tool.name === name) ? [role] : []))
  return page(
    'Tools',
    'The tools of termaite’s own MCP servers, and those of its own agent. An input with a `?` may be left out.',
    '## MCP server of a crew',
    'Started by `termaite mcp serve`; `termaite mcp install <client>` sets it up in a client. A CLI behind a wall reaches it through its seat.',
    ...crewTools(nobody({ agents: () => anyAgent })).flatMap((tool) => toolPart(tool)),
    '## MCP server of the hub',
    'At `/mcp` of the hub, or over stdin and stdout with `termaite serve --stdio-proxy`. The role of the key decides which tools it has.',
    ...[...all.values()].flatMap((tool) => toolPart(tool, `Roles: ${rolesOf(tool.name).join(', ')}.`)),
    '## MCP server of a turn',
    'Given to a CLI for one turn, as `termaite_turn`. A turn of a coordinator on another CLI has the tools of workers besides.',
    ...toolPart(thinkTool(nobody())),
    '## Tools of a coordinator',
    ...workerTools(nobody({ agents: () => anyAgent })).flatMap((tool) => toolPart(tool)),
    '## Tools of termaite’s own agent',
    'Permission rules name these tools, and those of MCP servers as `mcp__<server>__<tool>`.',
    ...ownTools().flatMap((tool) => toolPart(tool)),
  )
}

/** A machine has the agents of its own settings. */
const anyAgent = [{ name: 'an agent of the settings' }]

function hubToolsFor(role: CallerRole): Tool[] {
  return hubTools(nobody(), realClock, nobody({ role, name: 'reference' }))
}

function ownTools(): Tool[] {
  const parts = nobody<Parameters<typeof nativeTools>[0]>({
    root: '/',
    env: {},
    clock: realClock,
    blobs: nobody({ place: () => undefined }),
    skills: [],
  })
  return nativeTools(parts).tools.filter(({ name }) => name !== 'think')
}

function toolPart({ name, description, schema }: Tool, more = ''): string[] {
  const fields = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)
  const required = (schema.required ?? []) as string[]
  return [
    `### ${name}`,
    [plain(description.trim()), more].filter((words) => words !== '').join('\n\n'),
    ...(fields.length === 0
      ? ['No input.']
      : [
          table(
            ['input', 'type', 'meaning'],
            fields.map(([key, field]) => [
              code(required.includes(key) ? key : `${key}?`),
              typeWords(field),
              plain(String(field.description ?? '')),
            ]),
          ),
        ]),
  ]
}

export function hookReference(): string {
  return page(
    'Hook events',
    'Hooks are commands that run at events of a turn of termaite’s own agent, in the format of Claude Code: in `hooks` of the settings, of a trusted project’s `.termaite/settings.json`, and of its `.claude/settings.json`.',
    '```json\n{ "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "./check.sh" }] }] } }\n```',
    'Each hook gets JSON on its standard input: `session_id`, `transcript_path`, `cwd`, `permission_mode`, `hook_event_name`, and the fields of its event. Exit code 2 blocks, with stderr as the reason; 0 may decide by JSON on stdout (`hookSpecificOutput.permissionDecision`, `decision`, `continue`, `additionalContext`, `systemMessage`); any other is a warning. A hook of a project can forbid a call or have you asked about it, but not allow it in your place. A matcher is a regular expression for a whole name.',
    table(
      ['event', 'when', 'its fields', 'matcher', 'a hook that blocks'],
      Object.entries(hookTable).map(([event, row]) => [
        code(event),
        row.when,
        row.fields.map(code).join(', '),
        'matched' in row ? code(row.matched) : '',
        row.block,
      ]),
    ),
  )
}
