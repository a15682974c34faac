/**
 * The folders of a project with slash commands, subagents and skills, termaite's own folder first. The other CLIs write everything
 * that is read of them in the same format. Whatever lies in one of these folders counts only once its content is trusted.
 */
export const definitionFolders = {
  commands: [
    '.termaite/commands',
    '.claude/commands',
    '.opencode/commands',
    '.opencode/command',
    '.gemini/commands',
    '.qwen/commands',
  ],
  agents: [
    '.termaite/agents',
    '.claude/agents',
    '.opencode/agents',
    '.opencode/agent',
    '.gemini/agents',
    '.qwen/agents',
  ],
  skills: [
    '.skills',
    '.agents/skills',
    '.claude/skills',
    '.opencode/skills',
    '.opencode/skill',
    '.gemini/skills',
    '.qwen/skills',
    '.codex/skills',
    '.github/skills',
    '.pi/skills',
  ],
} as const satisfies Record<string, readonly string[]>
