/**
 * Files and folders in a project from which agents and editors start programs by themselves, without a further question. A
 * command behind a wall that could write them would run something outside it, at the latest when the agent starts again.
 *
 * Not in this list are the project's own programs, which a person or a rule starts: package scripts, makefiles, hooks that
 * husky or a `.githooks` folder keeps, and files that their reader pins by content, as direnv does with `.envrc`. Instructions
 * such as AGENTS.md are text.
 */
const rows: readonly (readonly [name: string, reason: string])[] = [
  ['.termaite', 'hooks, MCP servers and settings of termaite'],
  ['.mcp.json', 'MCP servers of Claude Code and others'],
  ['.agents', 'skills and plugins that several agents share'],
  ['.claude', 'hooks, MCP servers, skills and permissions of Claude Code'],
  ['.claude-plugin', 'hooks and MCP servers of a plugin for Claude Code'],
  ['.codex', 'MCP servers, notifiers and settings of Codex'],
  ['.gemini', 'MCP servers, hooks and extensions of Gemini CLI'],
  ['.qwen', 'MCP servers and hooks of Qwen Code'],
  ['.opencode', 'plugins, tools and agents of OpenCode'],
  ['opencode.json', 'MCP servers and formatters of OpenCode'],
  ['opencode.jsonc', 'MCP servers and formatters of OpenCode'],
  ['.copilot', 'MCP servers and agents of Copilot CLI'],
  ['.cursor', 'MCP servers and hooks of Cursor'],
  ['.windsurf', 'workflows and hooks of Windsurf'],
  ['.kiro', 'hooks and MCP servers of Kiro'],
  ['.roo', 'MCP servers of Roo Code'],
  ['.kilocode', 'MCP servers of Kilo Code'],
  ['.clinerules', 'hooks and workflows of Cline'],
  ['.continue', 'MCP servers of Continue'],
  ['.factory', 'hooks and MCP servers of Factory'],
  ['.augment', 'hooks and MCP servers of Augment'],
  ['.amp', 'MCP servers and permissions of Amp'],
  ['.goose', 'extensions and recipes of Goose'],
  ['.crush', 'settings of Crush'],
  ['.crush.json', 'MCP servers and language servers of Crush'],
  ['crush.json', 'MCP servers and language servers of Crush'],
  ['.aider.conf.yml', 'commands of Aider for tests and linting'],
  ['.pi', 'extensions and hooks of pi'],
  ['.vscode', 'tasks that start when VS Code opens the folder'],
  ['.idea', 'run configurations and startup tasks of JetBrains'],
  ['.fleet', 'run configurations of Fleet'],
  ['.zed', 'tasks and language servers of Zed'],
  ['.helix', 'language servers of Helix'],
  ['.nvim.lua', 'code that Neovim runs in a trusted folder'],
  ['.nvimrc', 'code that Neovim runs in a trusted folder'],
  ['.exrc', 'code that Vim runs when it opens the folder'],
  ['.vimrc', 'code that Vim runs when it opens the folder'],
  ['.dir-locals.el', 'code that Emacs runs for files of the folder'],
  ['.devcontainer', 'commands that an editor runs on the host before a container starts'],
  ['.devcontainer.json', 'commands that an editor runs on the host before a container starts'],
]

/** The names, in lower case: some file systems find a file however its name is written. */
export const settingsNames: readonly string[] = rows.map(([name]) => name)

const known = new Set(settingsNames)

/** Whether an agent or an editor starts programs from a file or folder of this name. */
export const isSettingsName = (name: string) => known.has(name.toLowerCase())
