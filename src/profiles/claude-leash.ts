import type { Leash } from '../core/work/agent.ts'

const looking = 'Read,Glob,Grep,WebFetch,WebSearch'
const acting = 'Bash,Edit,Write,NotebookEdit,Read,Glob,Grep,WebFetch,WebSearch,Agent,Skill'

/** Plan mode runs what a user's rules allow, so looking is held by the tools themselves. */
export const flags: Record<Leash, string> = {
  read: `--permission-mode dontAsk --tools ${looking} --strict-mcp-config`,
  ask: '--permission-mode default',
  edit: '--permission-mode acceptEdits',
  all: `$([ "$(id -u)" -ne 0 ] && echo --dangerously-skip-permissions || echo --permission-mode acceptEdits --allowedTools ${acting})`,
}

/** What each leash means for Claude Code, in words. */
export const leashes: Record<Leash, string> = {
  read: 'reads and searches; no shell, no edits, no MCP servers',
  ask: 'asks before it acts; what its own settings allow runs without a question',
  edit: 'edits files in the project without asking, and makes, moves and removes them; the rest as in ask',
  all: 'runs everything without asking; as root, where it refuses that, its own tools run and MCP tools are asked for',
}
