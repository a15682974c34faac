/** The vendors' CLIs: how each runs a command, and what a person has answered on its own dialogs before. */
export const clis = {
  claude: (folder: string) => ({
    '.claude.json': JSON.stringify({
      ...{ hasCompletedOnboarding: true, theme: 'dark' },
      customApiKeyResponses: { approved: ['made-up'], rejected: [] },
      projects: { [folder]: { hasTrustDialogAccepted: true } },
    }),
  }),
  codex: (folder: string) => ({
    '.codex/config.toml': `\n[projects.${JSON.stringify(folder)}]\ntrust_level = "trusted"\n`,
  }),
  gemini: (folder: string) => ({ '.gemini/trustedFolders.json': JSON.stringify({ [folder]: 'TRUST_FOLDER' }) }),
  qwen: () => ({
    '.qwen/settings.json': JSON.stringify({ tools: { useRipgrep: false }, general: { enableAutoUpdate: false } }),
  }),
}

export const shells = {
  anthropic: (command: string) => ({ tool: 'Bash', input: { command } }),
  responses: (cmd: string) => ({ tool: 'exec_command', input: { cmd } }),
  gemini: (command: string) => ({ tool: 'run_shell_command', input: { command } }),
  chat: (command: string) => ({ tool: 'run_shell_command', input: { command, is_background: false } }),
}
