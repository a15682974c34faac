export type WireName = 'anthropic' | 'responses' | 'chat' | 'gemini' | 'ollama'

/** Clouds that serve the models of other companies, with their own credentials. */
export type CloudName = 'bedrock' | 'vertex' | 'azure'

export type Provider = {
  /** The name for people. */
  label: string
  wire: WireName
  /** Models that are called in a format other than the provider's usual one, by their names. */
  wires?: readonly (readonly [RegExp, WireName])[]
  /** Set for a cloud, whose address and credential are determined when one of its models is opened. */
  cloud?: CloudName
  /** The address with its /v1 or /v1beta; if it is missing, the settings must contain one. */
  base?: string
  /** The variables that may contain the key; the first one that is set counts. */
  keys: readonly string[]
  /** The model for a new agent of this provider. */
  usual?: string
  /** Set for a server on this machine, which needs no key. `start` says how to start it. */
  local?: { start: string }
  /** How a request in the chat format sets the amount of thinking. */
  effort?: 'effort' | 'nested'
  /** Set if each answer contains its cost. */
  reportsCost?: true
  /** The largest image here, if that is less than its wire allows. */
  images?: { bytes: number }
  /** Matches the models whose cache must be marked in each request. */
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
    // 4 MB as base64
    images: { bytes: 3 * 1024 * 1024 },
  },
  openrouter: {
    label: 'OpenRouter',
    wire: 'chat',
    base: 'https://openrouter.ai/api/v1',
    keys: ['OPENROUTER_API_KEY', 'OPEN_ROUTER_API_KEY'],
    usual: 'anthropic/claude-sonnet-5.5',
    effort: 'nested',
    reportsCost: true,
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
  bedrock: {
    label: 'Amazon Bedrock',
    wire: 'chat',
    wires: [
      [/(^|[./])anthropic[./]/, 'anthropic'],
      [/(^|[./])openai[./]gpt-[5-9]/, 'responses'],
    ],
    cloud: 'bedrock',
    keys: ['AWS_BEARER_TOKEN_BEDROCK'],
    usual: 'global.anthropic.claude-sonnet-4-6',
    effort: 'effort',
  },
  vertex: {
    label: 'Google Vertex AI',
    wire: 'gemini',
    wires: [
      [/(^|\/)claude-/, 'anthropic'],
      [/^(?!google\/).*\//, 'chat'],
    ],
    cloud: 'vertex',
    keys: [],
    usual: 'gemini-3.8-flash',
    effort: 'effort',
  },
  azure: {
    label: 'Azure',
    wire: 'responses',
    wires: [
      [/claude/i, 'anthropic'],
      [/deepseek|grok|llama|mistral|ministral|codestral|phi-|kimi|qwen|cohere|command-/i, 'chat'],
    ],
    cloud: 'azure',
    keys: ['AZURE_OPENAI_API_KEY'],
    effort: 'effort',
  },
  compatible: { label: 'the compatible server', wire: 'chat', keys: [], effort: 'effort' },
} as const satisfies Record<string, Provider>

export type ProviderName = keyof typeof providers

export const defaultModel = `groq/${providers.groq.usual}`

type ModelName = { provider: ProviderName; model: string }

/** Reads `<provider>/<model>`, where the model may contain slashes. `wrong` says what is wrong with the name. */
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

/** The format in which a provider's model is called. */
export const wireOf = ({ wire, wires = [] }: Provider, model: string): WireName =>
  wires.find(([names]) => names.test(model))?.[1] ?? wire
