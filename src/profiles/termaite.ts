import type { Profile } from '../core/work/profile.ts'
import { termaiteScreen } from './termaite-screen.ts'

/**
 * Our own chat as one of the programs that run in a terminal: how our own agent sits in a slot that a person can watch.
 * It is in no list of CLIs; `program` is the command that starts us, `vendor` who its model's provider is.
 */
export function termaite(program: string, agent: string, vendor: string): Profile {
  const screen = termaiteScreen(program, agent)
  return {
    name: 'termaite',
    title: 'termaite',
    vendor,
    words: ['termaite'],
    window: 200_000,
    command: screen.command,
    leashes: screen.leashes,
    speaks: () => false,
    resumes: true,
    failure: () => undefined,
    install: 'npm install -g termaite',
    login: 'termaite setup',
    version: 'termaite --version',
    traces: { files: ['.termaite/settings.json'], env: [] },
    projectFiles: ['.termaite/settings.json'],
    screen,
  }
}
