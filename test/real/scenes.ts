import type { Answer, Script } from './model-server.ts'

type Call = { tool: string; input: unknown }

/** How each CLI is told to run a command and to make a file. */
const calls: Record<string, (cwd: string) => { shell: Call; edit: Call }> = {
  claude: () => ({
    shell: { tool: 'Bash', input: { command: 'touch made.txt', description: 'makes a file' } },
    edit: { tool: 'Write', input: { file_path: 'new.txt', content: 'one\ntwo\n' } },
  }),
  gemini: () => ({
    shell: { tool: 'run_shell_command', input: { command: 'touch made.txt', description: 'makes a file' } },
    edit: { tool: 'write_file', input: { file_path: 'new.txt', content: 'one\ntwo\n' } },
  }),
  codex: () => ({
    shell: {
      tool: 'exec_command',
      input: {
        cmd: 'touch made.txt',
        sandbox_permissions: 'require_escalated',
        justification: 'It must be made.',
        prefix_rule: ['touch'],
      },
    },
    edit: {
      tool: 'exec_command',
      input: { cmd: "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: new.txt\n+one\n+two\n*** End Patch\nEOF" },
    },
  }),
  qwen: (cwd) => ({
    shell: {
      tool: 'run_shell_command',
      input: { command: 'touch made.txt', description: 'makes a file', is_background: false },
    },
    edit: { tool: 'write_file', input: { file_path: `${cwd}/new.txt`, content: 'one\ntwo\n' } },
  }),
  copilot: (cwd) => ({
    shell: { tool: 'bash', input: { command: 'touch made.txt', description: 'makes a file' } },
    edit: { tool: 'create', input: { path: `${cwd}/new.txt`, file_text: 'one\ntwo\n' } },
  }),
}

export const longAnswer = Array.from({ length: 120 }, (_, at) => `Line ${at + 1} of the long answer.`).join('\n\n')

/** A model that does what the last prompt names, "scene:shell" say: a session of one CLI can go through all of them. */
export function scenes(cli: string, cwd: () => string): Script {
  const asked = new Map<string, number>()
  return ({ text }): Answer => {
    const named = [...text.matchAll(/scene:(\w+)/g)]
    const scene = named.at(-1)?.[1] ?? 'none'
    const times = (asked.get(`${scene} ${named.length}`) ?? 0) + 1
    asked.set(`${scene} ${named.length}`, times)
    const { shell, edit } = calls[cli]!(cwd())
    if (scene === 'hang') return { hang: true }
    if (scene === 'fault') return { error: 'key' }
    if (scene === 'rate') return { error: 'rate' }
    if (scene === 'long') return { text: longAnswer }
    if (scene === 'shell' && times === 1) return { text: 'I will make it.', call: shell }
    if (scene === 'edit' && times === 1) return { call: edit }
    return { text: `All is done for ${scene}.` }
  }
}
