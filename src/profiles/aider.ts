import type { Ended, Profile } from '../core/work/profile.ts'
import type { Leash } from '../core/work/agent.ts'
import type { Sign } from './shared/signs.ts'
import { providerSignsAfter, readSigns } from './shared/signs.ts'
import { quote } from './shared/shell-words.ts'

/** From its source (exceptions.py) and its issues; it is a Python program that could not be run here. */
export const signs: readonly Sign[] = [
  {
    kind: 'overflow',
    says: /^(?:litellm\.)?ContextWindowExceededError\b|^Model \S+ has hit a token limit!$/,
    said: 'Model gpt-5 has hit a token limit!',
  },
  {
    kind: 'auth',
    says: /^The API provider is not able to authenticate you\./,
    said: 'The API provider is not able to authenticate you. Check your API key.',
  },
  {
    kind: 'auth',
    says: /^No LLM model was specified and no API keys were provided\./,
    said: 'No LLM model was specified and no API keys were provided.',
  },
  ...providerSignsAfter(/^(?:Unexpected error: )?litellm\.(?:exceptions\.)?\w+Error: /),
]

/** What it adds in its own words, less exact than the provider's before it. */
const general: readonly Sign[] = [
  {
    kind: 'busy',
    says: /^The API provider has rate limited you\./,
    said: 'The API provider has rate limited you. Try again later or check your quotas.',
  },
  {
    kind: 'busy',
    says: /^The API provider's servers are down or overloaded\./,
    said: "The API provider's servers are down or overloaded.",
  },
]

/** An answer is followed by its account of tokens; errors stand on stdout with exit 0 and are not. */
const answered = /^Tokens: .*\bsent\b.*\breceived\b/m

function failure(ended: Ended) {
  if (answered.test(ended.out)) return undefined
  return readSigns(signs, ended) ?? readSigns(general, ended)
}

const modes: Record<Leash, readonly string[]> = {
  read: ['--chat-mode ask', '--no-suggest-shell-commands'],
  ask: ['--chat-mode ask', '--no-suggest-shell-commands'],
  edit: ['--no-suggest-shell-commands'],
  all: [],
}

export const aider: Profile = {
  name: 'aider',
  title: 'Aider',
  vendor: 'Aider',
  words: ['aider'],
  window: 128_000,
  // Our end of its stdin is a socket, which /dev/stdin cannot open: a pipe of the shell can be.
  command: ({ leash, model }) =>
    [
      'cat | aider --message-file /dev/stdin --yes-always --no-pretty --no-stream --no-fancy-input --no-check-update --no-show-release-notes --no-show-model-warnings --no-analytics',
      ...modes[leash],
      ...(model === undefined ? [] : [`--model ${quote(model)}`]),
    ].join(' '),
  leashes: {
    read: 'answers from the files; edits nothing',
    ask: 'as read: in a pipe nobody can be asked',
    edit: 'edits files of the repository and commits them, as its own settings say; no shell',
    all: 'edits and commits; shell commands still need a person, so they do not run',
  },
  speaks: () => false,
  resumes: false,
  failure,
  install: 'python -m pip install aider-install && aider-install',
  login: 'aider   # with a key in the environment or in .aider.conf.yml',
  version: 'aider --version',
  traces: {
    files: ['.aider.conf.yml', '.aider/oauth-keys.env'],
    env: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'OPENROUTER_API_KEY', 'DEEPSEEK_API_KEY'],
  },
  projectFiles: ['.aider.conf.yml'],
}
