/** How hard a model thinks; a provider that knows fewer steps is given the nearest one. */
export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'
export const efforts: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

export type WireName = 'anthropic' | 'responses' | 'chat' | 'gemini' | 'ollama'

export type Provider = {
  /** As a person writes it. */
  label: string
  wire: WireName
  /** With its /v1 or /v1beta; without one the settings must say it. */
  base?: string
  /** The variables that hold the key, the first one found counts. */
  keys: readonly string[]
  /** The model that a new agent on it is given. */
  usual?: string
  /** Nothing leaves this machine, and no key is needed. */
  local?: { start: string }
  /** How the chat format is told how hard to think. */
  effort?: 'effort' | 'nested'
  /** Whether it marks the cache of a model by itself only when it is asked to. */
  marks?: RegExp
}

export const providers = {
  anthropic: {
    label: 'Anthropic',
    wire: 'anthropic',
    base: 'https://api.anthropic.com/v1',
    keys: ['ANTHROPIC_API_KEY'],
    usual: 'claude-sonnet-5-5',
  },
  openai: {
    label: 'OpenAI',
    wire: 'responses',
    base: 'https://api.openai.com/v1',
    keys: ['OPENAI_API_KEY'],
    usual: 'gpt-6.1-sol',
  },
  google: {
    label: 'Google',
    wire: 'gemini',
    base: 'https://generativelanguage.googleapis.com/v1beta',
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    usual: 'gemini-3.8-flash',
  },
  groq: {
    label: 'Groq',
    wire: 'chat',
    base: 'https://api.groq.com/openai/v1',
    keys: ['GROQ_API_KEY'],
    usual: 'openai/gpt-oss-120b',
    effort: 'effort',
  },
  openrouter: {
    label: 'OpenRouter',
    wire: 'chat',
    base: 'https://openrouter.ai/api/v1',
    keys: ['OPENROUTER_API_KEY', 'OPEN_ROUTER_API_KEY'],
    usual: 'anthropic/claude-sonnet-5.5',
    effort: 'nested',
    marks: /^~?anthropic\//,
  },
  ollama: {
    label: 'Ollama',
    wire: 'ollama',
    base: 'http://127.0.0.1:11434/v1',
    keys: [],
    local: { start: 'start it with `ollama serve`' },
  },
  lmstudio: {
    label: 'LM Studio',
    wire: 'chat',
    base: 'http://127.0.0.1:1234/v1',
    keys: [],
    local: { start: 'start its server with `lms server start`' },
    effort: 'effort',
  },
  llamacpp: {
    label: 'llama.cpp',
    wire: 'chat',
    base: 'http://127.0.0.1:8080/v1',
    keys: [],
    local: { start: 'start it with `llama-server -m <model>`' },
  },
  compatible: { label: 'the compatible server', wire: 'chat', keys: [], effort: 'effort' },
} as const satisfies Record<string, Provider>

export type ProviderName = keyof typeof providers

export const defaultModel = `groq/${providers.groq.usual}`

export type ModelName = { provider: ProviderName; model: string }

/** `<provider>/<model>`, where the model may have slashes of its own; or what is wrong with it, in words. */
export function modelName(text: string): ModelName | { wrong: string } {
  const at = text.indexOf('/')
  const name = at < 0 ? text : text.slice(0, at)
  const model = at < 0 ? '' : text.slice(at + 1)
  if (!Object.hasOwn(providers, name))
    return { wrong: `there is no provider ${name || '""'}; use one of ${Object.keys(providers).join(', ')}` }
  if (model === '') return { wrong: `${text} names no model; write ${name}/<model>` }
  return { provider: name as ProviderName, model }
}

export const providerOf = (name: ProviderName): Provider => providers[name]
