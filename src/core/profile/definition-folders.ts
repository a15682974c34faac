/**
 * The folders of a project with slash commands, subagents and skills, termaite's own folder first. The other CLIs write nearly
 * everything in the same format; for the arguments of commands see src/people/commands/command-text.ts. Whatever lies in one of these folders counts only once its content is trusted.
 */
export const definitionFolders = {
  commands: [
    '.termaite/commands',
    '.claude/commands',
    '.opencode/commands',
    '.opencode/command',
    '.gemini/commands',
    '.qwen/commands',
    '.pi/prompts',
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
