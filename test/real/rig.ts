import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathOf } from '../system-path.ts'

const bin = join(import.meta.dirname, 'clis', 'node_modules', '.bin')

/** The folder of the clients of our own servers. */
export const clients = join(import.meta.dirname, 'clients', 'node_modules', '.bin')

export const installed = (cli: string) => [bin, clients].some((folder) => existsSync(join(folder, cli)))

/** How one CLI is pointed at a model of ours: variables, and files below its home. */
type Pointed = { env: Record<string, string>; files: Record<string, string> }

const pointers: Record<string, (url: string) => Pointed> = {
  claude: (url) => ({
    env: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'made-up',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
    files: {},
  }),
  gemini: (url) => ({
    env: { GEMINI_API_KEY: 'made-up', GOOGLE_GEMINI_BASE_URL: url },
    files: {
      '.gemini/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
        // No flag cuts its attempts, which for its automatic choice of a model take minutes; here nobody waits for them.
        general: { maxAttempts: 1 },
        model: { name: 'gemini-3-pro' },
      }),
    },
  }),
  codex: (url) => ({
    env: { MOCK_API_KEY: 'made-up' },
    files: {
      '.codex/config.toml': [
        'model = "mock-model"',
        'model_provider = "mock"',
        '[model_providers.mock]',
        'name = "mock"',
        `base_url = "${url}/v1"`,
        'env_key = "MOCK_API_KEY"',
        'wire_api = "responses"',
        'request_max_retries = 0',
        'stream_max_retries = 0',
      ].join('\n'),
    },
  }),
  qwen: (url) => ({
    env: { OPENAI_API_KEY: 'made-up', OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'mock-model' },
    files: {},
  }),
  copilot: (url) => ({
    env: {
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: 'made-up',
      COPILOT_MODEL: 'mock-model',
      COPILOT_OFFLINE: 'true',
    },
    files: {},
  }),
  pi: (url) => ({
    env: { PI_OFFLINE: '1' },
    files: {
      '.pi/agent/models.json': JSON.stringify({
        providers: {
          mock: {
            ...{ baseUrl: `${url}/v1`, api: 'openai-completions', apiKey: 'made-up' },
            models: [
              {
                ...{ id: 'mock-model', name: 'mock', reasoning: false, input: ['text'] },
                ...{ contextWindow: 200_000, maxTokens: 8192 },
                cost: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 0 },
              },
              ...['other-model', 'third-model'].map((id) => ({ id, reasoning: true, input: ['text'] })),
            ],
          },
        },
      }),
      '.pi/agent/settings.json': JSON.stringify({ defaultProvider: 'mock', defaultModel: 'mock-model' }),
    },
  }),
  opencode: (url) => ({
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1' },
    files: {
      '.config/opencode/opencode.json': JSON.stringify({
        ...{ model: 'mock/mock-model', small_model: 'mock/mock-model' },
        provider: {
          mock: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${url}/v1`, apiKey: 'made-up' },
            models: {
              'mock-model': {
                ...{ tool_call: true, limit: { context: 200_000, output: 8192 } },
                cost: { input: 1, output: 2, cache_read: 0.1 },
              },
            },
          },
        },
      }),
    },
  }),
}

/** A fresh home and an empty project for one CLI, and the whole environment it runs in. */
export type Rig = {
  root: string
  cwd: string
  env: Record<string, string | undefined>
  [Symbol.asyncDispose](): Promise<void>
}

export function rig(cli: string, url: string): Promise<Rig> {
  return rigged(pointers[cli]!(url))
}

/** One home in which every CLI is pointed at the same models. */
export function rigAll(url: string): Promise<Rig> {
  const all = Object.values(pointers).map((pointer) => pointer(url))
  return rigged({
    env: Object.assign({}, ...all.map(({ env }) => env)),
    files: Object.assign({}, ...all.map(({ files }) => files)),
  })
}

async function rigged({ env, files }: Pointed): Promise<Rig> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'termaite-real-')))
  const home = join(root, 'home')
  const cwd = join(root, 'project')
  await mkdir(cwd, { recursive: true })
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(home, dirname(path)), { recursive: true })
    await writeFile(join(home, path), text)
  }
  await mkdir(home, { recursive: true })
  // Beside the home, not above it: below a temporary folder Codex makes no helpers, and its sandbox finds none.
  const temp = join(root, 'tmp')
  await mkdir(temp)
  const path = pathOf(bin, clients)
  return {
    root,
    cwd,
    env: { HOME: home, PATH: path, LANG: 'C.UTF-8', TZ: 'UTC', TMPDIR: temp, TERMAITE_KEYCHAIN: 'off', ...env },
    // A CLI may still write its last log line while its folder goes.
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true, maxRetries: 5 }),
  }
}
