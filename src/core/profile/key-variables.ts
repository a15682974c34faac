import type { Env } from '../../base/env.ts'

/** Keys to the APIs of model providers: a CLI that supports many providers can use each of them. */
export const providerKeys: readonly string[] = [
  ...['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'AZURE_OPENAI_API_KEY', 'AZURE_OPENAI_AD_TOKEN'],
  'AWS_BEARER_TOKEN_BEDROCK',
  ...['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  ...['OPENROUTER_API_KEY', 'OPEN_ROUTER_API_KEY', 'GROQ_API_KEY', 'DEEPSEEK_API_KEY', 'MISTRAL_API_KEY'],
  ...['XAI_API_KEY', 'CEREBRAS_API_KEY', 'TOGETHER_API_KEY', 'FIREWORKS_API_KEY', 'PERPLEXITY_API_KEY'],
  ...['COHERE_API_KEY', 'MOONSHOT_API_KEY', 'KIMI_API_KEY', 'ZAI_API_KEY', 'ZHIPU_API_KEY', 'MINIMAX_API_KEY'],
  ...['DASHSCOPE_API_KEY', 'QWEN_API_KEY', 'AI_GATEWAY_API_KEY'],
]

/** Every variable that gives a CLI, or our own agent, a key to a model: the keys of providers, and the logins of single CLIs. */
const modelKeys: readonly string[] = [
  ...providerKeys,
  ...['ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_OAUTH_TOKEN', 'ANTHROPIC_FOUNDRY_API_KEY', 'ANTHROPIC_CUSTOM_HEADERS'],
  ...['CLAUDE_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN', 'CLAUDE_CODE_OAUTH_REFRESH_TOKEN'],
  ...['OPENAI_ADMIN_KEY', 'CODEX_API_KEY', 'CODEX_ACCESS_TOKEN'],
  ...['COPILOT_GITHUB_TOKEN', 'COPILOT_PROVIDER_API_KEY', 'COPILOT_PROVIDER_BEARER_TOKEN'],
  ...['BAILIAN_CODING_PLAN_API_KEY', 'AMP_API_KEY', 'OPENCODE_API_KEY', 'CLINE_API_KEY', 'CURSOR_API_KEY'],
]

/** Keys that termaite's own tools and traces use: no command that a model wrote needs them. */
const toolKeys = ['TAVILY_API_KEY', 'BRAVE_API_KEY', 'LANGFUSE_SECRET_KEY']

/** Keys to termaite itself: no other program ever inherits one. */
const ourKeys = /^TERMAITE_(?:\w*(?:KEY|TOKEN|SECRET|PASSWORD)|LEDGER)$/

/** Whether a variable is one of the given ones, or a variant of one, such as OPENAI_API_KEY_WORK. */
const isOneOf = (names: readonly string[], variable: string) =>
  names.some((name) => variable === name || variable.startsWith(`${name}_`))

/** The variables of model vendors that are withheld from an agent whose own variables are `own`; `more` are further names of keys. */
export function foreignKeys(own: readonly string[], more: readonly string[] = []): string[] {
  return [...modelKeys, ...more].filter((name) => !isOneOf(own, name))
}

/** The environment of an agent: with its own keys, without those of other vendors and of termaite. */
export function withOwnKeys<E extends Env>(env: E, own: readonly string[], more: readonly string[] = []): E {
  return without(env, (name) => ourKeys.test(name) || (isOneOf([...modelKeys, ...more], name) && !isOneOf(own, name)))
}

/** The environment of any program that a person started: all of theirs, without the keys to termaite. */
export function withoutOurKeys<E extends Env>(env: E): E {
  return without(env, (name) => ourKeys.test(name))
}

/** The environment of a program that needs no model: a command of a tool, a hook, an editor. */
export function withoutModelKeys<E extends Env>(env: E, more: readonly string[] = []): E {
  return without(env, (name) => ourKeys.test(name) || isOneOf([...modelKeys, ...toolKeys, ...more], name))
}

function without<E extends Env>(env: E, isKey: (name: string) => boolean): E {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isKey(name))) as E
}
