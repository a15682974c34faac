import type { Profile } from '../core/work/profile.ts'
import { aider } from './aider.ts'
import { amp } from './amp.ts'
import { claude } from './claude/claude.ts'
import { cline } from './cline.ts'
import { codex } from './codex/codex.ts'
import { copilot } from './copilot/copilot.ts'
import { crush } from './crush.ts'
import { gemini } from './gemini/gemini.ts'
import { opencode } from './opencode.ts'
import { pi } from './pi.ts'
import { qwen } from './qwen/qwen.ts'
import { programOf } from './shared/command-words.ts'

/** Every known CLI; a new one is a file in this folder and a row here. */
export const profiles: readonly Profile[] = [
  claude,
  gemini,
  codex,
  opencode,
  qwen,
  copilot,
  pi,
  amp,
  cline,
  crush,
  aider,
]

/** The profile of a command that a person wrote, by the program it starts. */
export function profileFor(command: string): Profile | undefined {
  const program = programOf(command)
  return profiles.find(({ words }) => words.some((word) => word === program))
}

export function profileNamed(name: string): Profile | undefined {
  return profiles.find((profile) => profile.name === name)
}
