import type { Ended, Profile } from '../core/profile/profile.ts'
import type { Sign } from './shared/failure-signs.ts'
import { join } from 'node:path'
import { providerSignsAfter, readSigns } from './shared/failure-signs.ts'
import { commandLine, option } from './shared/command-words.ts'
import { providerKeys } from '../core/profile/key-variables.ts'

export const signs: readonly Sign[] = [
  {
    kind: 'auth',
    says: /^Not authenticated\. Please run 'cline auth'/,
    said: "Not authenticated. Please run 'cline auth' first to configure your API credentials.",
  },
  // Seen with version 2.18.0: Error: API request failed: {"message":"401 Incorrect API key provided: …","status":401,…}
  ...providerSignsAfter(/^Error: /),
]

/** cline prints its errors to stdout instead of an answer: one line and nothing else. */
function failure(ended: Ended) {
  const out = ended.out.trim()
  return ended.code === 0 ? undefined : readSigns(signs, { ...ended, out: out.includes('\n') ? '' : out })
}

export const cline: Profile = {
  name: 'cline',
  title: 'Cline',
  vendor: 'Cline',
  words: ['cline'],
  window: 128_000,
  // cline reads its prompt from a shell's pipe, but from no other kind of stdin.
  command: ({ model }) => commandLine('cat | cline --yolo', option('--model', model)),
  models: { names: [] },
  effort: { levels: ['none', 'low', 'medium', 'high', 'xhigh'], words: (level) => `--thinking ${level}` },
  // Its plan mode waits for a person at the end, and every other mode asks a person.
  leashes: { all: 'runs everything without asking' },
  speaks: () => false,
  resumes: false,
  failure,
  install: 'npm install -g cline',
  login: 'cline auth',
  version: 'cline --version',
  traces: { files: ['.cline/data/secrets.json', '.cline/data/globalState.json'], env: [] },
  keys: [...providerKeys, 'CLINE_API_KEY'],
  projectFiles: ['.clinerules'],
  files: ({ home }) => ({
    folders: [join(home, '.cline'), join(home, '.cline', 'data')],
    sessions: [join(home, '.cline', 'data', 'tasks')],
  }),
  unsafe: /\s(?:-y|--yolo)\b/,
}
