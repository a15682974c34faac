import type { Profile } from '../core/profile/profile.ts'
import type { Sign } from './shared/failure-signs.ts'
import { failureBySigns, providerSignsAfter } from './shared/failure-signs.ts'
import { commandLine, option } from './shared/command-words.ts'
import { providerKeys } from '../core/profile/key-variables.ts'
import { configFolder, dataFolder } from './shared/home-folders.ts'

/** The facts are from crush's source and its issue tracker; crush could not be installed here, so its output is read as plain text. */
export const signs: readonly Sign[] = [
  {
    kind: 'auth',
    says: /no providers configured\b/i,
    said: "no providers configured - please run 'crush' to set up a provider interactively",
  },
  // run.go puts `agent run failed:` or `agent error:` before a provider's error; an older version put `failed to process events:`.
  ...providerSignsAfter(/(?:agent run failed: |agent error: |failed to process events: |^\s*ERROR\s+|^Error: )/),
]

/** The error box prints its text on separate padded lines. */
const failure = failureBySigns(signs)

export const crush: Profile = {
  name: 'crush',
  title: 'Crush',
  vendor: 'Charm',
  words: ['crush'],
  window: 200_000,
  command: ({ model }) => commandLine('crush run --quiet', option('--model', model)),
  // `crush run` approves every permission for its turn, because it cannot ask.
  leashes: { all: 'runs everything; without a screen it approves its own requests' },
  speaks: () => false,
  // crush can resume a session by its id but prints no id.
  models: { names: [], list: 'crush models' },
  resumes: false,
  failure,
  install: 'npm install -g @charmland/crush',
  login: 'crush   # then choose a provider',
  version: 'crush --version',
  traces: {
    files: ['.local/share/crush/crush.json', '.config/crush/crush.json'],
    env: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'OPENROUTER_API_KEY', 'GROQ_API_KEY'],
  },
  keys: providerKeys,
  projectFiles: ['crush.json', '.crush.json'],
  // Crush keeps its sessions in the project.
  files: (place) => ({ folders: [dataFolder(place, 'crush'), configFolder(place, 'crush')], sessions: [] }),
  unsafe: /\s(?:-y|--yolo)\b/,
}
