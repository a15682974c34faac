import type { Ended, Profile } from '../core/profile/profile.ts'
import type { Leash } from '../core/work/agent.ts'
import type { Sign } from './shared/failure-signs.ts'
import { join } from 'node:path'
import { providerSignsAfter, readSigns } from './shared/failure-signs.ts'
import { commandLine, option } from './shared/command-words.ts'
import { providerKeys } from '../core/profile/key-variables.ts'

/** These messages are from aider's source (exceptions.py) and its issue tracker; aider is a Python program that could not be run here. */
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

/** Messages that aider adds itself. They are less exact than the provider's message before them. */
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

/** An answer is followed by a line about tokens; errors are printed to stdout, without that line and with exit code 0. */
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
  // Aider opens /dev/stdin, which fails for the socket that we use as stdin but works for a shell's pipe.
  command: ({ leash, model }) =>
    commandLine(
      'cat | aider --message-file /dev/stdin --yes-always --no-pretty --no-stream --no-fancy-input --no-check-update --no-show-release-notes --no-show-model-warnings --no-analytics',
      ...modes[leash],
      option('--model', model),
    ),
  models: { names: [], list: 'aider --list-models' },
  effort: { levels: ['low', 'medium', 'high'], words: (level) => `--reasoning-effort ${level}` },
  leashes: {
    read: 'answers from the files; edits nothing',
    ask: 'the same as read, because a pipe cannot ask',
    edit: 'edits files of the repository and commits them, as its own settings say; no shell',
    all: 'edits files and commits them; shell commands need a person and do not run',
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
  keys: providerKeys,
  instructionFiles: [],
  projectFiles: ['.aider.conf.yml'],
  // Aider keeps its history in the project.
  files: ({ home }) => ({ folders: [join(home, '.aider')], sessions: [] }),
}
