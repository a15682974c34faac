import type { CliPlace, Profile } from '../core/profile/profile.ts'
import { isAbsolute, join } from 'node:path'
import { aider } from './aider.ts'
import { amp } from './amp.ts'
import { claude } from './claude/claude.ts'
import { cline } from './cline.ts'
import { codex } from './codex/codex.ts'
import { copilot } from './copilot/copilot.ts'
import { crush } from './crush.ts'
import { gemini } from './gemini/gemini.ts'
import { opencode } from './opencode.ts'
import { pi } from './pi/pi.ts'
import { qwen } from './qwen/qwen.ts'
import { programOf } from './shared/command-words.ts'

/**
 * Every known CLI by its name, which is also its program; a new CLI needs a file in this folder and a row here. A profile is created on
 * first use, because a start needs only few of them.
 */
const rows: Readonly<Record<string, () => Profile>> = {
  claude: () => claude,
  gemini: () => gemini,
  codex: () => codex,
  opencode: () => opencode,
  qwen: () => qwen,
  copilot: () => copilot,
  pi: () => pi,
  amp: () => amp,
  cline: () => cline,
  crush: () => crush,
  aider: () => aider,
}

export const profileNames: readonly string[] = Object.keys(rows)

export function allProfiles(): Profile[] {
  return Object.values(rows).map((profile) => profile())
}

/** The files and folders outside a project in which the CLIs store their logins and their state, except one CLI's. */
export function cliPlaces(place: CliPlace, except?: string): string[] {
  return allProfiles()
    .filter(({ name }) => name !== except)
    .flatMap(({ files, traces }) => {
      const { folders = [], returned = [] } = files?.(place) ?? {}
      return [...folders, ...returned.map(({ path }) => path), ...traces.files.map((file) => join(place.home, file))]
    })
    .filter(isAbsolute)
}

/** The profile of a command that a person wrote, found by the program in it. */
export function profileFor(command: string): Profile | undefined {
  return profileNamed(programOf(command) ?? '')
}

export function profileNamed(name: string): Profile | undefined {
  return Object.hasOwn(rows, name) ? rows[name]!() : undefined
}
