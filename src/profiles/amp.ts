import type { Profile } from '../core/profile/profile.ts'
import type { Sign } from './shared/failure-signs.ts'
import { failureBySigns, providerSignsAfter } from './shared/failure-signs.ts'
import { configFolder, dataFolder } from './shared/home-folders.ts'

/** The facts are from amp's manual and from reports; amp could not be run against our test model, so its output is read as plain text. */
export const signs: readonly Sign[] = [
  // Seen with version 0.0.1777897475: amp prints this and a link, and waits.
  { kind: 'auth', says: /^No API key found\./, said: 'No API key found. Starting login flow...' },
  // Its manual says that execute mode needs AMP_API_KEY without a login.
  { kind: 'auth', says: /\bAMP_API_KEY\b|^(?:Error: )?(?:Unauthorized|Invalid API key)\b/i, said: 'Invalid API key' },
  // An issue (vibeproxy 199) reports this message for a spent balance.
  { kind: 'quota', says: /^(?:Error: )?Out of (?:free )?credits\b/i, said: 'Out of Credits' },
  {
    kind: 'quota',
    says: /^(?:Error: )?Insufficient (?:credit|balance)/i,
    said: 'Insufficient credit balance. Add credits at https://ampcode.com/settings',
  },
  ...providerSignsAfter(/^Error: /),
]

const failure = failureBySigns(signs)

export const amp: Profile = {
  name: 'amp',
  title: 'Amp',
  vendor: 'Amp',
  words: ['amp'],
  window: 200_000,
  command: () => 'amp --execute',
  // Its tools run without approval by default; only a policy plugin could change that.
  leashes: { all: 'runs everything without asking; it cannot be limited' },
  speaks: () => false,
  resumes: false,
  failure,
  install: 'npm install -g @ampcode/cli',
  login: 'amp login',
  version: 'amp --version',
  traces: { files: ['.local/share/amp/secrets.json'], env: ['AMP_API_KEY'] },
  keys: ['AMP_API_KEY'],
  projectFiles: ['.amp/settings.json'],
  // Amp keeps its threads at its provider.
  files: (place) => ({ folders: [dataFolder(place, 'amp'), configFolder(place, 'amp')], sessions: [] }),
  unsafe: /--dangerously-allow-all\b/,
}
