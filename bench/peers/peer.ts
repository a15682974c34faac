import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { installed } from '../../test/real/rig.ts'
import { start } from '../measure.ts'
import type { Asked } from '../../test/real/model-server.ts'

/** A peer at the same task: how it is started, and which call of its own reads a file. */
export type Peer = {
  name: string
  /** Whose pointer of the rig it uses. */
  rig: string
  argv(prompt: string): readonly string[]
  read(file: string, asked: Asked): { tool: string; input: unknown }
  /** Whether a request is no part of the task, such as one for a title. */
  isSideRequest?(asked: Asked): boolean
  /** More settings below its home, beside the rig's. */
  files?(url: string): Record<string, string>
  env?: Record<string, string>
}

/** Peers that only we drive here; the others are those of the real tests. */
export const clis = join(import.meta.dirname, 'clis')

/** OpenCode is pinned by its packages of single systems: the package that chooses one of them names systems that are not all published. */
const opencode = join(clis, 'node_modules', `opencode-${process.platform}-${process.arch}`, 'bin', 'opencode')

/** Our own agent on the same wire as Claude Code. */
export const own: Peer = {
  name: 'termaite',
  rig: 'claude',
  argv: (prompt) => [...start, '-p', prompt, '--leash', 'all'],
  read: (file) => ({ tool: 'file_reader', input: { file_path: file } }),
  files: (url) => ({ '.termaite/settings.json': JSON.stringify({ agents: [nativeAt(url)] }) }),
}

const nativeAt = (url: string) => ({
  name: 'native',
  kind: 'native',
  model: 'anthropic/claude-sonnet-4-5',
  baseURL: `${url}/v1`,
  contextWindowTokens: 200_000,
})

export const peers: readonly Peer[] = [
  own,
  {
    name: 'claude',
    rig: 'claude',
    argv: (prompt) => ['claude', '-p', prompt],
    read: (file) => ({ tool: 'Read', input: { file_path: file } }),
  },
  {
    name: 'codex',
    rig: 'codex',
    argv: (prompt) => ['codex', 'exec', '--skip-git-repo-check', prompt],
    read: (file) => ({ tool: 'exec_command', input: { cmd: `cat ${file}` } }),
  },
  {
    name: 'gemini',
    rig: 'gemini',
    argv: (prompt) => ['gemini', '--skip-trust', '-p', prompt],
    read: (file) => ({ tool: 'read_file', input: { file_path: file } }),
  },
  {
    name: 'qwen',
    rig: 'qwen',
    argv: (prompt) => ['qwen', prompt],
    read: (file) => ({ tool: 'read_file', input: { file_path: file } }),
  },
  {
    name: 'copilot',
    rig: 'copilot',
    argv: (prompt) => ['copilot', '-p', prompt, '--allow-all-tools', '-s'],
    read: (file) => ({ tool: 'view', input: { path: file } }),
    env: { COPILOT_AUTO_UPDATE: 'false' },
  },
  {
    name: 'pi',
    rig: 'qwen',
    argv: (prompt) => [
      join(clis, 'node_modules', '.bin', 'pi'),
      '--provider',
      'mock',
      '--model',
      'mock-model',
      '-p',
      prompt,
    ],
    read: (file) => ({ tool: 'read', input: { path: file } }),
    files: (url) => ({ '.pi/agent/models.json': JSON.stringify({ providers: { mock: piAt(url) } }) }),
    env: { PI_OFFLINE: '1' },
  },
  {
    name: 'opencode',
    rig: 'qwen',
    argv: (prompt) => [opencode, 'run', '--model', 'mock/mock-model', prompt],
    read: (file) => ({ tool: 'read', input: { filePath: file } }),
    isSideRequest: ({ body }) => !body.tools,
    files: (url) => ({ '.config/opencode/opencode.json': JSON.stringify(opencodeAt(url)) }),
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
  },
]

const opencodeAt = (url: string) => ({
  autoupdate: false,
  share: 'disabled',
  permission: 'allow',
  provider: {
    mock: {
      npm: '@ai-sdk/openai-compatible',
      name: 'mock',
      options: { baseURL: `${url}/v1`, apiKey: 'made-up' },
      models: { 'mock-model': { name: 'mock', limit: { context: 200_000, output: 8192 } } },
    },
  },
})

const piAt = (url: string) => ({
  baseUrl: `${url}/v1`,
  api: 'openai-completions',
  apiKey: 'made-up',
  models: [
    {
      id: 'mock-model',
      name: 'mock',
      reasoning: false,
      input: ['text'],
      contextWindow: 200_000,
      maxTokens: 8192,
      cost: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
    },
  ],
})

/** Whether the peer is installed here. */
export function isThere(peer: Peer): boolean {
  const [program] = peer.argv('')
  return isAbsolute(program!) ? existsSync(program!) : installed(program!)
}
